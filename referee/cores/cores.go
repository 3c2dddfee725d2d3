// Package cores binds the threads of workers, and with them their bots, to cores of the machine.
package cores

// Any is the core of a worker that is not bound to one.
const Any = -1
