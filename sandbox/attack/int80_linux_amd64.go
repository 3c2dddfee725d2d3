package main

// call80 makes the system call with the number nr, without arguments, by the instruction int 0x80, as 32-bit programs
// do.
func call80(nr uint32) uint32
