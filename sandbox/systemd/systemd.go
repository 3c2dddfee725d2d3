// Package systemd gets a cgroup from systemd for the sandbox. It is a package of its own because its
// libraries need the network's: the first process of a sandbox, which starts without them, is ready
// several milliseconds earlier.
package systemd
