// Command attack is a collection of hostile bots. Each tries one way out of a sandbox, or one way to harm the
// machine.
//
//	attack list            lists the attacks and the calls
//	attack NAME TARGET     makes one attack; TARGET is a JSON object that says what to attack
//	attack calls TARGET    makes all calls of a table, each in a new process, and prints the results
//
// An attack that succeeds prints THROUGH and what it got, and exits with status 0. An attack that is refused prints
// BLOCKED and the error, and exits with status 10. Some attacks are ended from outside or never end by themselves.
//
// Even without a sandbox the attacks do not harm the machine. Each uses less than 300 MB, 300 processes and 10 min.
// Calls that would be harmful have invalid arguments, or ask for what is the case already. All attacks try to reach
// only what the tests have put there.
package main
