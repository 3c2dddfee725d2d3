package main

// call80 makes a system call without arguments in the way of 32-bit programs.
func call80(nr uint32) uint32
