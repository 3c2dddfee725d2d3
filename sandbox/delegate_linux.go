package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/systemd"
)

// Cgroups of version 2 are one tree. timba may use a part of it if the part's
// controllers are delegated: by systemd, on request, or by a container.

// The controllers of version 2, the required ones first. With cpu each program gets an
// equal share of the processors.
var (
	needV2 = []string{"memory", "pids"}
	likeV2 = []string{"cpu"}
)

// leafV2 is the cgroup that a divided cgroup's own processes move to: the kernel allows
// a cgroup either processes or controllers for the cgroups below it.
const leafV2 = "timba"

// openV2 finds a directory for groups; own is the cgroup of this process.
func openV2(own string) (groups, error) {
	if base := baseV2(own, isDelegated); base != "" {
		return divide(base)
	}
	if booted() {
		base, err := delegated()
		if err != nil {
			return nil, fmt.Errorf("systemd does not delegate a cgroup: %w", err)
		}
		return divide(base)
	}
	return divide(own)
}

// baseV2 returns the directory that is delegated to this process already, or "".
func baseV2(own string, isDelegated func(dir string) bool) string {
	above := filepath.Dir(own)
	switch {
	case filepath.Base(own) == leafV2 && lacks(above, handsOn, needV2) == "" && writable(above):
		return above // another timba, such as the parent of this one, has divided it
	case isDelegated(own) && writable(own):
		return own
	case isDelegated(above) && writable(above):
		return above // systemd's DelegateSubgroup
	case lacks(own, handsOn, needV2) == "" && writable(own):
		return own // the root of the tree: only that has both processes and this
	}
	return ""
}

func writable(dir string) bool {
	return unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
}

// isDelegated reports whether systemd has marked a cgroup as delegated. Before version
// 251 only root could read the mark.
func isDelegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		var value [8]byte
		if n, err := unix.Getxattr(dir, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// booted reports whether systemd runs this machine.
func booted() bool {
	info, err := os.Lstat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// The lists of controllers: those that a cgroup has, and those that it enables for the
// cgroups below it.
const (
	has     = "cgroup.controllers"
	handsOn = "cgroup.subtree_control"
)

// lacks returns the first controller that a cgroup's list does not have, "" if it has
// all.
func lacks(dir, list string, controllers []string) string {
	data, _ := os.ReadFile(filepath.Join(dir, list)) // a missing file has no controllers
	have := " " + strings.TrimSpace(string(data)) + " "
	for _, c := range controllers {
		if !strings.Contains(have, " "+c+" ") {
			return c
		}
	}
	return ""
}

// controllerError says that a cgroup does not have a controller.
type controllerError struct{ dir, name string }

func (e *controllerError) Error() string {
	return fmt.Sprintf("%s does not have the controller %q", e.dir, e.name)
}

// divide makes groups below a directory, after moving its processes to a leaf.
func divide(dir string) (groups, error) {
	if missing := lacks(dir, has, needV2); missing != "" {
		return nil, &controllerError{dir, missing}
	}
	if err := handOn(dir, needV2); err != nil {
		return nil, err
	}
	for _, c := range likeV2 {
		handOn(dir, []string{c}) // optional
	}
	return groupsV2{dir}, nil
}

// handOn enables controllers for the cgroups below a directory. If necessary, it first
// moves the processes of the directory, perhaps this one, to a leaf.
func handOn(dir string, controllers []string) error {
	if lacks(dir, handsOn, controllers) == "" {
		return nil
	}
	for range 10 { // a new process may start meanwhile
		err := writeFile(filepath.Join(dir, handsOn), "+"+strings.Join(controllers, " +"))
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		if err := vacate(dir); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: its processes start others faster than they can be moved out", dir)
}

// vacate moves every process of a cgroup into a leaf.
func vacate(dir string) error {
	leaf := filepath.Join(dir, leafV2)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range strings.Fields(string(data)) {
		if err := writeFile(filepath.Join(leaf, "cgroup.procs"), pid); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// delegated has this process moved into a delegated scope, and returns the scope's directory.
func delegated() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	name := fmt.Sprintf("timba-%d-%s.scope", os.Getpid(), startOf(os.Getpid()))
	if err := systemd.Delegate(ctx, name); err != nil {
		return "", err
	}
	_, unified, err := ownGroups()
	if err != nil {
		return "", err
	}
	if filepath.Base(unified) != name {
		return "", fmt.Errorf("%s was started, but this process is still in %s", name, unified)
	}
	return unified, nil
}
