package main

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var pipes = []attack{
	{Name: "flood-stdout", Help: "lines without end", Run: func(*target) (string, error) { return flood(1) }, Setup: setup{Judge: byFlood}},
	{Name: "flood-stderr", Help: "errors without end", Run: func(*target) (string, error) { return flood(2) }, Setup: setup{Judge: byFlood}},
	{Name: "flood-line", Help: "one line without end", Run: func(*target) (string, error) { return floodWith(1, strings.Repeat("x", 64<<10)) }, Setup: setup{Judge: byFlood}},
	{Name: "close-pipes", Help: "closes its pipes and goes on", Run: closePipes, Setup: setup{Judge: byEnd}},
	{Name: "deaf", Help: "never reads and never answers", Run: deaf, Setup: setup{Judge: byEnd}},
}

func flood(fd int) (string, error) { return floodWith(fd, strings.Repeat("move 1o\n", 8<<10)) }

// floodWith writes until nobody reads, 64 MB at most.
func floodWith(fd int, text string) (string, error) {
	deafen()
	f := os.NewFile(uintptr(fd), "flood")
	for range 64 << 20 / len(text) {
		if _, err := f.WriteString(text); err != nil {
			break
		}
	}
	time.Sleep(bound)
	return "", errNothing
}

func closePipes(*target) (string, error) {
	deafen()
	ready()
	for fd := range 3 {
		unix.Close(fd)
	}
	time.Sleep(bound)
	return "", errNothing
}

func deaf(*target) (string, error) {
	deafen()
	ready()
	time.Sleep(bound)
	return "", errNothing
}
