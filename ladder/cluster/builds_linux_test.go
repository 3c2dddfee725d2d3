package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
)

// noisy makes the files of a bot that have so many bytes when they are packed, or a few more.
func (a *arena) noisy(id int64, bytes int) attempt.Bot {
	noise := make([]byte, bytes)
	rand.Read(noise)
	return a.bot(id, script("")+"# "+hex.EncodeToString(noise)+"\n")
}

// pack makes a bot ready to be fetched.
func (a *arena) pack(b attempt.Bot) (build, error) {
	return a.builds.put(a.t.Context(), b.Hash, func(context.Context) (string, error) { return a.Built(a.t.Context(), b) })
}

// Bots make room for others, and come back when they are needed again.
func TestBuildsRoom(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *HubOptions) { o.Listen = "" })
	pack := func(b attempt.Bot) build {
		t.Helper()
		return kit.Get[build](t)(a.pack(b))
	}
	there := func(b build) bool {
		info, err := os.Stat(a.builds.path(b.Tree))
		return err == nil && info.Size() == b.Size
	}
	bot := a.noisy(1, 20_000)
	first, second := pack(bot), pack(a.noisy(2, 20_000))
	a.builds.most = first.Size + second.Size + 1000
	third := pack(a.noisy(3, 20_000))
	if there(first) || !there(second) || !there(third) {
		t.Errorf("the first of three is there: %t, the others %t and %t", there(first), there(second), there(third))
	}
	if again := pack(bot); again != first || !there(again) || there(second) {
		t.Errorf("the first comes back as %+v, not %+v", again, first)
	}
	if _, err := a.pack(a.noisy(4, 60_000)); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("a bot that is larger than all of the room gives %v", err)
	}
	if !there(first) || !there(third) {
		t.Error("others went for a bot that does not fit")
	}
	left := kit.Get[[]os.DirEntry](t)(os.ReadDir(a.builds.dir))
	if len(left) != 2 {
		t.Errorf("%d files are left", len(left))
	}
}

// Who is cancelled while a bot is packed for several cancels nobody else.
func TestPackCancelled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bot := kit.Files(t, filepath.Join(root, "bot"), map[string]string{"bot.sh": "true"})
	synctest.Test(t, func(t *testing.T) {
		b := kit.Get[*builds](t)(openBuilds(filepath.Join(root, "packed")))
		first, cancel := context.WithCancel(t.Context())
		put := func(ctx context.Context) <-chan error {
			ended := make(chan error, 1)
			go func() {
				_, err := b.put(ctx, "hash", func(ctx context.Context) (string, error) {
					if ctx == first {
						<-ctx.Done()
						return "", ctx.Err()
					}
					return bot, nil
				})
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		one, two := put(first), put(t.Context())
		if len(two) > 0 {
			t.Error("the other does not wait for the same")
		}
		cancel()
		if err := <-one; !errors.Is(err, context.Canceled) || errors.Is(err, attempt.ErrUnavailable) {
			t.Errorf("who was cancelled is told %v", err)
		}
		if err := <-two; err != nil {
			t.Errorf("the other is told %v", err)
		}
	})
}

// A machine whose server starts again while it fetches a bot goes on: what was packed stays.
func TestBuildsStay(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.hostile("lab-1")
	a.joins(l, nil)
	made := kit.Get[build](t)(a.pack(a.noisy(1, 2*PartSize)))
	fetch := func(offset int64) []byte {
		t.Helper()
		data := kit.Get[[]byte](t)(json.Marshal(filePart{made.Tree, offset}))
		return kit.Get[*nats.Msg](t)(l.Request(filesSubject("lab-1"), data, patience)).Data
	}
	whole := kit.Get[[]byte](t)(os.ReadFile(a.builds.path(made.Tree)))
	if got := fetch(0); string(got) != string(whole[:PartSize]) {
		t.Errorf("the first part has %d bytes", len(got))
	}
	a.must(os.WriteFile(filepath.Join(a.builds.dir, "new-1"), nil, 0o600))
	a.Close()
	a.open(nil)
	kit.Until(t, "it is connected again", func() bool { return l.FlushTimeout(patience) == nil })
	if got := fetch(PartSize); string(got) != string(whole[PartSize:min(2*PartSize, len(whole))]) {
		t.Errorf("the second part has %d bytes", len(got))
	}
	for _, offset := range []int64{made.Size, -1} {
		if got := fetch(offset); len(got) != 0 {
			t.Errorf("at %d are %d bytes", offset, len(got))
		}
	}
	if _, err := os.Stat(filepath.Join(a.builds.dir, "new-1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not finished stays: %v", err)
	}
	made.Tree = "../account.key"
	if got := fetch(0); len(got) != 0 {
		t.Error("a worker reads the server's key")
	}
}

// A machine that asks for many parts at once gets one, and others do not wait for it.
func TestManyParts(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	evil, victim := a.hostile("evil"), a.hostile("victim")
	good, slow := kit.Get[build](t)(a.pack(a.noisy(1, 1000))), kit.Get[build](t)(a.pack(a.noisy(2, 1000)))
	a.must(errors.Join(os.Remove(a.builds.path(slow.Tree)), syscall.Mkfifo(a.builds.path(slow.Tree), 0o600)))
	answers := kit.Get[*nats.Subscription](t)(evil.SubscribeSync(inboxPrefix("evil") + ".x"))
	ask := func(b build) []byte { return kit.Get[[]byte](t)(json.Marshal(filePart{Tree: b.Tree})) }
	for range 100 {
		a.must(evil.PublishRequest(filesSubject("evil"), inboxPrefix("evil")+".x", ask(slow)))
	}
	a.must(evil.FlushTimeout(patience))
	got := kit.Get[*nats.Msg](t)(victim.Request(filesSubject("victim"), ask(good), patience)) // behind all of them
	if int64(len(got.Data)) != good.Size {
		t.Errorf("another gets %d bytes of %d", len(got.Data), good.Size)
	}
	f := kit.Get[*os.File](t)(os.OpenFile(a.builds.path(slow.Tree), os.O_WRONLY, 0)) // the slow disk answers
	a.must(f.Close())
	kit.Get[*nats.Msg](t)(answers.NextMsg(patience))
	a.must(evil.PublishRequest(filesSubject("evil"), inboxPrefix("evil")+".x", ask(good)))
	if got := kit.Get[*nats.Msg](t)(answers.NextMsg(patience)); int64(len(got.Data)) != good.Size {
		t.Errorf("then it gets %d bytes of %d", len(got.Data), good.Size)
	}
	if n, _, err := answers.Pending(); n != 0 || err != nil {
		t.Errorf("it gets %d parts more, %v", n, err)
	}
}

// fill writes into a file until the disk is full.
func fill(t testing.TB, path string) {
	t.Helper()
	f := kit.Get[*os.File](t)(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer f.Close()
	var err error
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// On a full disk a bot cannot be handed out, which is no failure of it, and can when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("test", dir, "tmpfs", 0, "size=8m"); err != nil {
		kit.Lacks(t, "the right to mount a small disk")
	}
	t.Cleanup(func() { kit.Must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	a := newArena(t, func(o *HubOptions) { o.Dir = dir })
	a.worker("lab-1")
	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	j := job(1, 1, greedy, a.noisy(2, 1<<16))
	if _, err := a.Play(t.Context(), "lab-1", j); !errors.Is(err, attempt.ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a bot on a full disk gave %v", err)
	}
	a.must(os.Remove(filler))
	r, err := a.Play(t.Context(), "lab-1", j)
	a.complete(j, r, err)
	for _, e := range kit.Get[[]os.DirEntry](t)(os.ReadDir(a.builds.dir)) {
		if strings.HasPrefix(e.Name(), "new-") {
			t.Errorf("%s stays", e.Name())
		}
	}
}

// Bots that are packed at the same time make room one after the other: what one of them has removed is not missing.
func TestBuildsRoomTogether(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := kit.Get[*builds](t)(openBuilds(filepath.Join(root, "packed")))
	b.most = 4096
	for i := range 500 { // of an earlier server
		kit.Must(t, os.WriteFile(b.path(fmt.Sprintf("%064x", i)), make([]byte, 4096), 0o600))
	}
	var packed sync.WaitGroup
	for i := range 20 {
		bot := kit.Files(t, filepath.Join(root, fmt.Sprint(i)), map[string]string{"bot.sh": fmt.Sprint(i)})
		packed.Go(func() {
			built := func(context.Context) (string, error) { return bot, nil }
			if _, err := b.put(t.Context(), fmt.Sprint(i), built); err != nil {
				t.Error(err)
			}
		})
	}
	packed.Wait()
}
