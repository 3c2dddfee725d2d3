package main

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// rootOnly is for attacks that only root can make.
func rootOnly(why string) func() string {
	return func() string {
		if os.Getuid() != 0 {
			return why
		}
		return ""
	}
}

// needsCap is for attacks that take one capability.
func needsCap(c int, why string) func() string {
	return func() string {
		h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var d [2]unix.CapUserData
		if err := unix.Capget(&h, &d[0]); err != nil || d[c/32].Effective&(1<<(c%32)) == 0 {
			return why
		}
		return ""
	}
}

// needs is for attacks on one of several paths.
func needs(paths ...string) func() string {
	return func() string {
		for _, p := range paths {
			if _, err := os.Stat(p); err == nil {
				return ""
			}
		}
		return "no " + strings.Join(paths, ", ") + " here"
	}
}

// mayUse is for attacks on one of several devices, which are root's on some
// machines and everybody's on others.
func mayUse(paths ...string) func() string {
	return func() string {
		for _, p := range paths {
			if unix.Access(p, unix.R_OK|unix.W_OK) == nil {
				return ""
			}
		}
		return "no " + strings.Join(paths, ", ") + " here for this user"
	}
}

// setting is for attacks that a setting of the kernel allows to all, when its
// value is one of those; else to root.
func setting(name string, values ...string) func() string {
	return func() string {
		data, err := os.ReadFile("/proc/sys/" + name)
		value := strings.TrimSpace(string(data))
		if err != nil || os.Getuid() == 0 {
			return ""
		}
		for _, v := range values {
			if v == value {
				return ""
			}
		}
		return name + " is " + value
	}
}

// never is for attacks on what this kernel or this machine may lack.
func never(why string, has func() bool) func() string {
	return func() string {
		if has() {
			return ""
		}
		return why
	}
}

// amd64Only is for what other processors do not have.
func amd64Only() string {
	if runtime.GOARCH != "amd64" {
		return "only amd64 has it"
	}
	return ""
}

// both is for attacks with two conditions.
func both(a, b func() string) func() string {
	return func() string {
		if why := a(); why != "" {
			return why
		}
		return b()
	}
}
