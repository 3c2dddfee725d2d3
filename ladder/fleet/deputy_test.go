package fleet

import (
	"context"
	"testing"

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
	for _, ask := range []string{"$JS.API.STREAM.INFO." + botsStream, "$JS.API.DIRECT.GET." + botsStream, "$JS.API.CONSUMER.INFO.JOBS.evil", "$JS.API.CONSUMER.MSG.NEXT.JOBS.evil", "machines.evil"} {
		for _, reply := range []string{
			"results.victim", "jobs.victim", "jobs.evil", "machines.victim", "cancel.victim", "$O.bots.M.x", "$O.bots.C.x",
			"$JS.API.STREAM.PURGE.RESULTS", "$JS.API.STREAM.DELETE.RESULTS", "$JS.API.STREAM.PURGE." + botsStream, "$JS.API.CONSUMER.DELETE.JOBS.victim",
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
	if n, last := state(jobsStream); n != 0 || last != 0 {
		t.Errorf("%d jobs wait, the last is number %d", n, last)
	}
	if _, err := a.stream(jobsStream).Consumer(t.Context(), "victim"); err != nil {
		t.Error(err)
	}
	a.must(put())
}
