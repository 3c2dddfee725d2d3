// Command attack is a collection of hostile bots: each of its subcommands tries
// one way out of a sandbox, or one way to harm the machine.
//
//	attack list            the attacks, with what each tries
//	attack NAME [TARGET]   run one; TARGET is a JSON object of what is there for it
//
// An attack that got through prints THROUGH and what it got, and exits with status
// 0. One that was refused prints BLOCKED and the error, and exits with status 10.
// Some are ended by others or never end by themselves.
//
// Every attack is bounded, so that a machine survives it without a sandbox:
// less than 300 MB, 300 processes and 30 seconds. Those that would harm the
// machine stop at the proof that the kernel would have obeyed. They reach only
// for what the tests have put there.
package main
