package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
)

// incompressibleBot makes a bot whose packed files have about that many bytes.
func (a *arena) incompressibleBot(id int64, bytes int) attempt.Entrant {
	noise := make([]byte, bytes)
	rand.Read(noise)
	return a.bot(id, script("")+"# "+hex.EncodeToString(noise)+"\n")
}

// pack packs a bot for machines until the test ends.
func (a *arena) pack(b attempt.Entrant) (build, error) { return a.packFor(a.t.Context(), b) }

// packFor packs a bot for machines until ctx ends.
func (a *arena) packFor(ctx context.Context, b attempt.Entrant) (build, error) {
	return a.builds.ensurePacked(ctx, b.Hash, func(context.Context) (string, error) { return a.BuildDir(ctx, b) })
}

// Packed bots that no attempt needs are removed to make room for others, and packed again when they are
// needed. A bot that is larger than the whole limit is refused, and no other is removed for it.
func TestBuildsRoom(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *DispatcherOptions) { o.Listen = "" })
	there := func(b build) bool {
		_, err := os.Stat(a.builds.Path(b.Tree))
		return err == nil
	}
	bot := a.incompressibleBot(1, 20_000)
	ctx, end := context.WithCancel(t.Context())
	first := kit.Get[build](t)(a.packFor(ctx, bot))
	second := kit.Get[build](t)(a.pack(a.incompressibleBot(2, 20_000)))
	a.builds.Limits.Bytes = first.Size + second.Size + 1000
	last := a.incompressibleBot(3, 20_000)
	third := kit.Get[build](t)(a.pack(last))
	if !there(first) || !there(second) || !there(third) {
		t.Error("a bot that an attempt needs is gone")
	}
	end()
	kit.Until(t, "the first, which no attempt needs, makes room", func() bool {
		kit.Get[build](t)(a.pack(last))
		return !there(first)
	})
	if again := kit.Get[build](t)(a.pack(bot)); again != first || !there(again) || !there(second) {
		t.Errorf("the first comes back as %+v, not %+v", again, first)
	}
}

// If a machine cannot use the files of a bot, which may be damaged, the bot is packed again.
func TestDoubtedBuild(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *DispatcherOptions) { o.Listen = "" })
	bot := a.incompressibleBot(1, 1000)
	made := kit.Get[build](t)(a.pack(bot))
	whole := kit.Get[[]byte](t)(os.ReadFile(a.builds.Path(made.Tree)))
	a.must(os.WriteFile(a.builds.Path(made.Tree), whole[:len(whole)/2], 0o600))
	a.builds.recheck(bot.Hash)
	kit.Get[build](t)(a.pack(bot))
	if got := kit.Get[[]byte](t)(os.ReadFile(a.builds.Path(made.Tree))); string(got) != string(whole) {
		t.Errorf("it has %d bytes, not %d", len(got), len(whole))
	}
}

// A machine whose server restarts while it fetches a bot goes on where it was, because packed bots stay.
func TestBuildsStay(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, nil)
	made := kit.Get[build](t)(a.pack(a.incompressibleBot(1, 2*PartSize)))
	fetch := func(offset int64) []byte {
		t.Helper()
		data := kit.Get[[]byte](t)(json.Marshal(filePart{made.Tree, offset}))
		return kit.Get[*nats.Msg](t)(l.Request(filesSubject("lab-1"), data, patience)).Data
	}
	whole := kit.Get[[]byte](t)(os.ReadFile(a.builds.Path(made.Tree)))
	if got := fetch(0); string(got) != string(whole[:PartSize]) {
		t.Errorf("the first part has %d bytes", len(got))
	}
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
	made.Tree = "../account.key"
	if got := fetch(0); len(got) != 0 {
		t.Error("a worker reads the server's key")
	}
}

// A machine that requests many parts at once gets one, and other machines do not have to wait for it.
func TestManyParts(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	evil, victim := a.connectHostile("evil"), a.connectHostile("victim")
	good, slow := kit.Get[build](t)(a.pack(a.incompressibleBot(1, 1000))), kit.Get[build](t)(a.pack(a.incompressibleBot(2, 1000)))
	a.must(errors.Join(os.Remove(a.builds.Path(slow.Tree)), syscall.Mkfifo(a.builds.Path(slow.Tree), 0o600)))
	answers := kit.Get[*nats.Subscription](t)(evil.SubscribeSync(inboxPrefix("evil") + ".x"))
	ask := func(b build) []byte { return kit.Get[[]byte](t)(json.Marshal(filePart{Tree: b.Tree})) }
	for range 100 {
		a.must(evil.PublishRequest(filesSubject("evil"), inboxPrefix("evil")+".x", ask(slow)))
	}
	a.must(evil.FlushTimeout(patience))
	got := kit.Get[*nats.Msg](t)(victim.Request(filesSubject("victim"), ask(good), patience)) // queued after all of them
	if int64(len(got.Data)) != good.Size {
		t.Errorf("another gets %d bytes of %d", len(got.Data), good.Size)
	}
	f := kit.Get[*os.File](t)(os.OpenFile(a.builds.Path(slow.Tree), os.O_WRONLY, 0)) // unblock the read
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

// fillDisk writes a file until the disk is full.
func fillDisk(t testing.TB, path string) {
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

// On a full disk a bot cannot be packed, which is not its failure. It can be packed when there is space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("test", dir, "tmpfs", 0, "size=8m"); err != nil {
		kit.Lacks(t, "the right to mount a small disk")
	}
	t.Cleanup(func() { kit.Must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	a := newArena(t, func(o *DispatcherOptions) { o.Dir = dir })
	a.startWorkerProcess("lab-1")
	filler := filepath.Join(dir, "filler")
	fillDisk(t, filler)
	j := job(1, 1, greedy, a.incompressibleBot(2, 1<<16))
	if _, err := a.Play(t.Context(), "lab-1", j); !errors.Is(err, attempt.ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a bot on a full disk gave %v", err)
	}
	a.must(os.Remove(filler))
	r, err := a.Play(t.Context(), "lab-1", j)
	a.checkComplete(j, r, err)
	if left, err := filepath.Glob(a.builds.Path(".trees/new-*")); err != nil || len(left) > 0 {
		t.Errorf("%v stay, %v", left, err)
	}
}
