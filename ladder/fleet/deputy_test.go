package fleet

import (
	"context"
	"testing"

	"github.com/timba-arena/timba/internal/kit"

	"github.com/nats-io/nats.go"
)

// A worker cannot let NATS do what it may not do itself, by asking for an answer on a subject that
// is not its own.
func TestForeignReplies(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l, victim := a.hostile("evil"), a.hostile("victim")
	a.joins(l, nil)
	a.joins(victim, nil)
	bot := a.bot(2, script(""))
	put := func() error {
		a.shelf.forget(bot.Hash)
		_, err := a.shelf.put(t.Context(), bot.Hash, func(context.Context) (string, error) { return a.Built(t.Context(), bot) })
		return err
	}
	a.must(put())
	state := func(stream string) (messages, last uint64) {
		info, err := a.stream(stream).Info(t.Context())
		a.must(err)
		return info.State.Msgs, info.State.LastSeq
	}
	objects, _ := state(botsStream)
	words := kit.Get[*nats.Subscription](t)(victim.SubscribeSync(jobsSubject("victim")))
	a.must(victim.FlushTimeout(patience))
	for _, ask := range []string{"$JS.API.STREAM.INFO." + botsStream, "$JS.API.DIRECT.GET." + botsStream, "machines.evil"} {
		for _, reply := range []string{
			"results.victim", "jobs.victim", "jobs.evil", "machines.victim", "$O.bots.M.x", "$O.bots.C.x",
			"$JS.API.STREAM.PURGE." + botsStream, "$JS.API.STREAM.DELETE." + botsStream,
		} {
			for _, body := range []string{"", `{"seq":1}`, `{"name":"evil","session":"s","protocol":1,"cores":[-1]}`} {
				l.PublishMsg(&nats.Msg{Subject: ask, Reply: reply, Data: []byte(body)})
			}
		}
	}
	l.Flush()
	a.must(a.link.FlushTimeout(patience)) // what the answers have led to is done
	if n, _ := state(botsStream); n != objects {
		t.Errorf("the object store has %d messages, not %d", n, objects)
	}
	a.must(victim.FlushTimeout(patience))
	if n, _, err := words.Pending(); n != 0 || err != nil {
		t.Errorf("the victim is told %d words, %v", n, err)
	}
	a.must(put())
}
