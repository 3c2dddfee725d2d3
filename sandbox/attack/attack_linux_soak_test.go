//go:build soak && linux

package main

import (
	"os"
	"os/user"
	"strconv"
	"testing"
)

// TestAttacksEverywhere makes the attacks at every level of this machine. As root it also makes them as an
// ordinary user. After each attack it checks that the sandbox still works.
func TestAttacksEverywhere(t *testing.T) {
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, freeUser(t))
	}
	attackAs(t, true, users...)
}

// freeUser returns a user ID that no user has.
func freeUser(t *testing.T) int {
	for uid := 61234; uid < 65000; uid++ {
		if _, err := user.LookupId(strconv.Itoa(uid)); err != nil {
			return uid
		}
	}
	t.Fatal("all user numbers are taken")
	return 0
}
