package main

// call80 makes a system call of 32-bit programs without arguments.
func call80(nr uint32) uint32
