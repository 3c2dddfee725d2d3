package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// If timba runs as root, each sandbox has its own user ID. Then programs of different sandboxes cannot send each
// other signals or open each other's files, and the kernel's limits per user apply to one sandbox. A process
// reserves a block of IDs by binding a socket with the name of the block, which disappears with the process.
const (
	firstUID  = 1879048192 // above the IDs that systemd gives to containers
	blockSize = 1024
	blocks    = 256
)

// uidBlock is the block of user IDs that this process has reserved for its sandboxes, if it runs as root.
type uidBlock struct {
	mu        sync.Mutex
	first     int // first ID of the block; 0 if none is reserved yet
	used      [blockSize]bool
	nextIndex int
}

var uids uidBlock

// acquire returns a user ID that no sandbox uses, or an error if there is none. The first call reserves a block of
// IDs. The caller must release the ID.
func (u *uidBlock) acquire() (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.first == 0 {
		if err := u.reserveBlock(); err != nil {
			return -1, err
		}
	}
	for range blockSize { // in turn, so that an ID is not reused immediately
		i := u.nextIndex
		u.nextIndex = (u.nextIndex + 1) % blockSize
		if !u.used[i] {
			u.used[i] = true
			return u.first + i, nil
		}
	}
	return -1, fmt.Errorf("%d sandboxes are running already", blockSize)
}

func (u *uidBlock) release(uid int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[uid-u.first] = false
}

func (u *uidBlock) reserveBlock() error {
	first, n, err := uidRange()
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for b := range n {
		uid := first + b*blockSize
		err := unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@timba-sandbox-users-%d", uid)})
		if errors.Is(err, unix.EADDRINUSE) {
			continue
		}
		if err != nil {
			unix.Close(fd)
			return err
		}
		if name := knownUser(uid); name != "" {
			unix.Close(fd)
			return fmt.Errorf("user %d is %s: user numbers from %d on must be unused", uid, name, uid)
		}
		u.first = uid
		return nil
	}
	unix.Close(fd)
	return fmt.Errorf("other programs have taken all %d blocks of users", n)
}

// uidRange returns the first user ID of all blocks (see uidBlock) and the number of blocks. In a container without
// IDs as high as firstUID, it returns a range near the highest IDs that exist. It returns an error if the container
// has too few IDs.
func uidRange() (first, n int, err error) {
	ranges, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0, 0, err
	}
	largest, size := 0, 0
	for line := range strings.Lines(string(ranges)) {
		var start, outside, count int
		if _, err := fmt.Sscan(line, &start, &outside, &count); err != nil {
			continue
		}
		if start <= firstUID && start+count >= firstUID+blocks*blockSize {
			return firstUID, blocks, nil
		}
		if count > size {
			largest, size = start, count
		}
	}
	if size < 32*blockSize {
		return 0, 0, fmt.Errorf("this container has only %d users", size)
	}
	return largest + size - 16*blockSize, 8, nil
}

// knownUser returns the name of a user in /etc/passwd whose ID is in the block that begins at first, or "" if
// there is none.
func knownUser(first int) string {
	users, _ := os.ReadFile("/etc/passwd") // a missing file has no users
	for line := range strings.Lines(string(users)) {
		fields := strings.Split(line, ":")
		if len(fields) < 3 {
			continue
		}
		if uid, err := strconv.Atoi(fields[2]); err == nil && uid >= first && uid < first+blockSize {
			return fields[0]
		}
	}
	return ""
}
