//go:build race

package main

// raced tells whether the race detector makes everything slow.
const raced = true
