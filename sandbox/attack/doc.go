// Command attack is a collection of hostile bots. Each of them tries one way out of a sandbox, or one way to harm
// the machine. In addition, the command tests which system calls the sandbox refuses.
//
//	attack list            lists the attacks and the tested system calls
//	attack NAME TARGET     makes one attack; TARGET is a JSON object that says what to attack
//	attack calls TARGET    makes each tested system call in a new process, and prints its result
//
// An attack that succeeds prints THROUGH and what it got, and exits with status 0. An attack that is refused prints
// BLOCKED and the error, and exits with status 10. Some attacks are ended from outside or never end by themselves.
//
// Even without a sandbox the attacks do not harm the machine. Each uses less than 300 MB, 300 processes and 10 min.
// A system call that could do harm gets invalid arguments, or asks for a state that already exists. Attacks only try
// to reach what the tests have prepared for them.
package main
