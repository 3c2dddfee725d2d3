// Command attack is a collection of hostile bots. Each tries one way out of a sandbox, or one way to harm the machine.
//
//	attack list            lists the attacks and the calls
//	attack NAME TARGET     makes one attack; TARGET is a JSON object that says what it may reach for
//	attack calls TARGET    makes all calls of a table, each in a process of its own, and prints what each returned
//
// An attack that succeeds prints THROUGH and what it got, and exits with status 0. An attack that is refused prints
// BLOCKED and the error, and exits with status 10. Some attacks are ended by others or never end by themselves.
//
// A machine without a sandbox survives every attack: each uses less than 300 MB, 300 processes and 10 minutes. The calls
// ask for nonsense, or for what is so already, wherever a call that is obeyed would harm the machine. All reach only for
// what the tests have put there.
package main
