// Package cores binds the threads of workers, and with them their bots, to cores of the machine.
package cores

// Any stands for the core of a thread that is not bound to a core.
const Any = -1
