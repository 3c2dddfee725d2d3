// Package systemd asks systemd for a cgroup in which the sandbox can create its own cgroups.
package systemd

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"
)

// NoManagerError is the error of Delegate if no systemd runs for the user.
type NoManagerError struct{ Err error }

func (e *NoManagerError) Error() string {
	return fmt.Sprintf("no systemd runs for user %d: %v", os.Geteuid(), e.Err)
}

func (e *NoManagerError) Unwrap() error { return e.Err }

// Delegate makes systemd move this process to a new cgroup that the process may manage. scope is the name of the
// systemd unit for it. That takes about 200 ms.
func Delegate(ctx context.Context, scope string) error {
	conn, err := manager(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	done := make(chan string, 1)
	properties := []dbus.Property{
		dbus.PropDescription("timba's bots"),
		dbus.PropPids(uint32(os.Getpid())),
		{Name: "Delegate", Value: godbus.MakeVariant(true)},
		// The default limit of systemd is too low for the bots of many matches.
		{Name: "TasksMax", Value: godbus.MakeVariant(uint64(math.MaxUint64))},
		{Name: "CollectMode", Value: godbus.MakeVariant("inactive-or-failed")},
	}
	if _, err := conn.StartTransientUnitContext(ctx, scope, "fail", properties, done); err != nil {
		return err
	}
	select {
	case result := <-done:
		if result != "done" {
			return fmt.Errorf("%s: %s", scope, result)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", scope, ctx.Err())
	}
}

// manager returns a connection to the systemd that manages this user's units: the system's for root, the user's own
// for others. It uses the standard address of the bus, because the environment variable may be missing, or belong to
// another user after su. If that fails, it uses systemd's private socket, for machines without a bus for users.
func manager(ctx context.Context) (*dbus.Conn, error) {
	if os.Geteuid() == 0 {
		return dbus.NewWithContext(ctx)
	}
	run := "unix:path=/run/user/" + strconv.Itoa(os.Geteuid())
	conn, err := dbus.NewConnection(func() (*godbus.Conn, error) { return dial(ctx, run+"/bus", (*godbus.Conn).Hello) })
	if err == nil {
		return conn, nil
	}
	direct, directErr := dbus.NewConnection(func() (*godbus.Conn, error) {
		return dial(ctx, run+"/systemd/private", func(*godbus.Conn) error { return nil })
	})
	if directErr == nil {
		return direct, nil
	}
	return nil, &NoManagerError{err}
}

func dial(ctx context.Context, address string, greet func(*godbus.Conn) error) (*godbus.Conn, error) {
	conn, err := godbus.Dial(address, godbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	err = conn.Auth([]godbus.Auth{godbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err == nil {
		err = greet(conn)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
