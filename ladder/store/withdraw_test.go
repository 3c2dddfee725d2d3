//go:build !race || slowrace

package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// liveAndActive returns the number of the live version of a bot, or 0 if there is none, and how many of its
// versions are active on tebes-4.
func (c *competition) liveAndActive(botID int64) (live, active int) {
	c.tb.Helper()
	versions := kit.Get[[]ladder.Version](c.tb)(c.Versions.List(bg, botID, 0, -1))
	for _, v := range versions {
		if v.State == ladder.Live {
			live = v.Number
		}
	}
	places := kit.Get[[]ladder.Standing](c.tb)(c.Ladders.StandingsOf(bg, botID))
	for _, s := range places {
		if s.Ladder == "tebes-4" && s.Active {
			active++
		}
	}
	return live, active
}

// wantMessages checks the messages to a person about matches.
func (c *competition) wantMessages(person int64, want ...string) {
	c.tb.Helper()
	var got []string
	for _, m := range kit.Get[[]ladder.Message](c.tb)(c.People.Messages(bg, person, 0, 100)) {
		if strings.HasPrefix(m.Text().String(), "match ") {
			got = append(got, m.Text().String())
		}
	}
	if !slices.Equal(got, want) {
		c.tb.Errorf("person %d is told %q, want %q", person, got, want)
	}
}

func (c *competition) wantPlaying(botID int64, what string, live, active int) {
	c.tb.Helper()
	if l, a := c.liveAndActive(botID); l != live || a != active {
		c.tb.Errorf("%s: version %d is live and %d are active, want version %d and %d", what, l, a, live, active)
	}
}

// TestWithdraw checks that a withdrawn bot does not play, keeps its history, and gets no version, and that
// Restore undoes that.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	c.addLive(p.ID, "anna-bot")
	v := c.addLive(p.ID, "anna-bot")
	first := c.liveIDs("@first")[0]
	c.playRatedMatch("tebes-4", v.ID, first)
	waits, err := c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{v.ID, first}})
	kit.Must(t, err)
	asked := c.addUnrated(p.ID, v.ID, first)
	other := c.addPeople("ben")[0]
	others := c.addUnrated(other.ID, v.ID, first)
	before, err := c.Ladders.StandingsOf(bg, v.BotID)
	kit.Must(t, err)

	kit.Must(t, c.Bots.Withdraw(bg, v.BotID))
	kit.Must(t, c.Bots.Withdraw(bg, v.BotID)) // the second call changes nothing
	c.wantMessages(p.ID)
	c.wantMessages(other.ID, fmt.Sprintf(`match %d was dropped: bot "anna-bot" is withdrawn`, others.ID))
	c.wantPlaying(v.BotID, "withdrawn", 0, 0)
	if b, err := c.Bots.Find(bg, "anna-bot"); err != nil || b.WithdrawnAt.IsZero() {
		t.Errorf("%+v, %v", b, err)
	}
	if m, err := c.Matches.Find(bg, waits.ID); err != nil || m.State != ladder.Dropped {
		t.Errorf("a match that waits is %s; %v", m.State, err)
	}
	if m, err := c.Matches.Find(bg, asked.ID); err != nil || m.State != ladder.Dropped || m.Reason.String() != `bot "anna-bot" is withdrawn` {
		t.Errorf("a match that somebody asked for is %s: %s; %v", m.State, m.Reason, err)
	}
	l := testLadders(t)[0]
	_, err = c.Matches.Add(bg, NewMatch{Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, Versions: []int64{v.ID, first}, RequestedBy: p.ID})
	wantError(t, err, ladder.Conflict, `bot "anna-bot" is withdrawn: choose another bot`)
	_, err = c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(9)}, noLimits)
	wantError(t, err, ladder.Conflict, `bot "anna-bot" is withdrawn: bring anna-bot back first`)
	if history, err := c.Ladders.ChangeHistory(bg, "tebes-4", v.ID, 10); err != nil || len(history) != 1 {
		t.Errorf("the history has %d matches; %v", len(history), err)
	}

	kit.Must(t, c.Bots.Restore(bg, v.BotID))
	kit.Must(t, c.Bots.Restore(bg, v.BotID))
	c.wantPlaying(v.BotID, "restored", 2, 1)
	after, err := c.Ladders.StandingsOf(bg, v.BotID)
	kit.Must(t, err)
	if len(after) != len(before) || after[0].Elo != before[0].Elo || after[0].Matches != before[0].Matches {
		t.Errorf("the places are %+v, and were %+v", after, before)
	}
	c.playRatedMatch("tebes-4", v.ID, first)
	wantSound(t, c.Store)
	wantError(t, c.Bots.Withdraw(bg, 1), ladder.Forbidden, `bot "@random" is of the house: the configuration of the ladders names them`)
}

// TestBan checks that a banned bot does not play, that its owner is told why and can neither bring it back nor submit
// to it, and that the owner can bring it back after Unban.
func TestBan(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben")
	v := c.addLive(p[0].ID, "anna-bot")
	asked := c.addUnrated(p[1].ID, v.ID, c.liveIDs("@first")[0])
	open := c.addBuilt(p[0].ID, "anna-bot")
	for _, reason := range []string{"", " ", "two\nlines", strings.Repeat("x", 301)} {
		if err := c.Bots.Ban(bg, v.BotID, reason); ladder.CodeOf(err) != ladder.Invalid {
			t.Errorf("the reason %q: %v", reason, err)
		}
	}
	kit.Must(t, c.Bots.Ban(bg, v.BotID, "it sleeps"))
	kit.Must(t, c.Bots.Ban(bg, v.BotID, "it cheats"))
	c.wantPlaying(v.BotID, "banned", 0, 0)
	if stopped, err := c.Versions.Find(bg, open.ID); err != nil || stopped.State != ladder.Cancelled {
		t.Errorf("its submission is %+v, %v", stopped, err)
	}
	c.wantMessages(p[1].ID, fmt.Sprintf(`match %d was dropped: bot "anna-bot" is banned`, asked.ID))
	banned := kit.Get[[]ladder.Bot](t)(c.Bots.ListBanned(bg, 9))
	if len(banned) != 1 || banned[0].Name != "anna-bot" || banned[0].BanReason != "it cheats" || banned[0].BannedAt.IsZero() {
		t.Errorf("banned are %+v", banned)
	}
	const refused = `bot "anna-bot" is banned: it cheats: ask an admin`
	wantError(t, c.Bots.Restore(bg, v.BotID), ladder.Forbidden, refused)
	wantError(t, c.Bots.UseVersion(bg, v.BotID, 1), ladder.Forbidden, refused)
	_, err := c.Versions.Add(bg, p[0].ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(9)}, noLimits)
	wantError(t, err, ladder.Forbidden, refused)
	_, err = c.Versions.ConnectRemote(bg, p[0].ID, RemoteVersion{Bot: "anna-bot"}, noLimits)
	wantError(t, err, ladder.Forbidden, refused)
	l := testLadders(t)[0]
	_, err = c.Matches.Add(bg, NewMatch{Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, Versions: []int64{v.ID, c.liveIDs("@first")[0]}, RequestedBy: p[1].ID})
	wantError(t, err, ladder.Conflict, `bot "anna-bot" is banned: choose another bot`)

	kit.Must(t, c.Bots.Unban(bg, v.BotID))
	kit.Must(t, c.Bots.Unban(bg, v.BotID))
	c.wantPlaying(v.BotID, "unbanned", 0, 0)
	kit.Must(t, c.Bots.Restore(bg, v.BotID))
	c.wantPlaying(v.BotID, "restored", 1, 1)
	var told []string
	for _, m := range kit.Get[[]ladder.Message](t)(c.People.Messages(bg, p[0].ID, 0, 9)) {
		told = append(told, m.Text().String())
	}
	if want := []string{
		`an admin has banned bot "anna-bot": it plays no more, and you cannot bring it back: it sleeps`,
		`an admin has banned bot "anna-bot": it plays no more, and you cannot bring it back: it cheats`,
		`bot "anna-bot" is banned no more: you can bring it back`,
	}; !slices.Equal(told, want) {
		t.Errorf("the owner is told %q", told)
	}
	wantError(t, c.Bots.Ban(bg, 1, "x"), ladder.Forbidden, `bot "@random" is of the house: the configuration of the ladders names them`)
	wantSound(t, c.Store)
}

// TestWithdrawnBrokenOff checks that a requested match that was running when its bot was withdrawn is dropped
// when it is interrupted.
func TestWithdrawnBrokenOff(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben")
	v := c.addLive(p[0].ID, "anna-bot")
	own, other := c.addUnrated(p[0].ID, v.ID, c.liveIDs("@first")[0]), c.addUnrated(p[1].ID, v.ID, c.liveIDs("@first")[0])
	for _, m := range []ladder.Match{own, other} {
		c.startAttempt(m)
	}
	kit.Must(t, c.Bots.Withdraw(bg, v.BotID))
	for _, m := range []ladder.Match{own, other} {
		dropped, err := c.Matches.InterruptAttempt(bg, m.ID, 1, phrase.Plain("machine w1 was lost"), false)
		kit.Must(t, err)
		m = kit.Get[ladder.Match](t)(c.Matches.Find(bg, m.ID))
		if !dropped || m.State != ladder.Dropped || m.Reason.String() != `bot "anna-bot" is withdrawn` {
			t.Errorf("match %d is dropped: %t; it is %s: %q", m.ID, dropped, m.State, m.Reason)
		}
	}
	c.wantMessages(p[0].ID)
	c.wantMessages(p[1].ID, fmt.Sprintf(`match %d was dropped: bot "anna-bot" is withdrawn`, other.ID))
	wantSound(t, c.Store)
}

// TestWithdrawRefused checks that a bot with a pending version cannot be withdrawn, and that a suspended
// version stays suspended.
func TestWithdrawRefused(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	v := c.addLive(p.ID, "anna-bot")
	open := c.addBuilt(p.ID, "anna-bot")
	wantError(t, c.Bots.Withdraw(bg, v.BotID), ladder.Conflict, `bot "anna-bot": version 2 is still on its way: wait for its end, or cancel the version of anna-bot on its way`)
	kit.Must(t, c.Versions.Fail(bg, open.ID, phrase.Plain("no")))
	_, err := c.Versions.Suspend(bg, v.ID, 0, phrase.Plain("faults"))
	kit.Must(t, err)
	kit.Must(t, c.Bots.Withdraw(bg, v.BotID))
	kit.Must(t, c.Bots.Restore(bg, v.BotID))
	c.wantPlaying(v.BotID, "suspended and restored", 0, 0)
	wantError(t, c.Bots.UseVersion(bg, v.BotID, 1), ladder.Conflict, "version 1 of anna-bot was suspended: submit a version without the faults")
}

// TestUseVersion checks that an earlier version that is used again continues with its own rating, and that the
// next version starts from the one that played last.
func TestUseVersion(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	v1 := c.addLive(p.ID, "anna-bot")
	first := c.liveIDs("@first")[0]
	_, changes := c.playRatedMatch("tebes-4", v1.ID, first)
	v2 := c.addLive(p.ID, "anna-bot")
	c.playRatedMatch("tebes-4", v2.ID, first)

	kit.Must(t, c.Bots.UseVersion(bg, v1.BotID, 1))
	kit.Must(t, c.Bots.UseVersion(bg, v1.BotID, 1))
	c.wantPlaying(v1.BotID, "version 1 again", 1, 1)
	_, again := c.playRatedMatch("tebes-4", v1.ID, first)
	if again[0].EloBefore != changes[0].EloAfter || again[0].Number != 2 {
		t.Errorf("it goes on with %+v after %+v", again[0], changes[0])
	}
	v3 := c.addLive(p.ID, "anna-bot")
	_, third := c.playRatedMatch("tebes-4", v3.ID, first)
	if third[0].EloBefore != again[0].EloAfter {
		t.Errorf("the next version starts at %v, want %v", third[0].EloBefore, again[0].EloAfter)
	}
	kit.Must(t, c.Bots.Withdraw(bg, v1.BotID))
	kit.Must(t, c.Bots.UseVersion(bg, v1.BotID, 2))
	c.wantPlaying(v1.BotID, "version 2 of a bot that was withdrawn", 2, 1)
	wantSound(t, c.Store)

	wantError(t, c.Bots.UseVersion(bg, v1.BotID, 9), ladder.NotFound, `bot "anna-bot" has no version 9: look at the versions of anna-bot`)
	failed := c.addBuilt(p.ID, "anna-bot")
	kit.Must(t, c.Versions.Fail(bg, failed.ID, phrase.Plain("no")))
	wantError(t, c.Bots.UseVersion(bg, v1.BotID, failed.Number), ladder.Conflict, "version 4 of anna-bot has never been live: it is failed: look at the versions of anna-bot that have been live")
}

// TestFailedNamesAreFree checks that a bot that has only failed versions does not count for the limit of bots,
// and that another person can take its name when these versions no longer count for the daily limit.
func TestFailedNamesAreFree(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben")
	few := ladder.Limits{Bots: 1, Versions: 100}
	n := 0
	add := func(by ladder.Person, name string) (ladder.Version, error) {
		n++
		return c.Versions.Add(bg, by.ID, NewVersion{Bot: name, Bundle: writeUpload(t, c.Dir(), fmt.Sprint(n))}, few)
	}
	fails := func(by ladder.Person, name string) ladder.Version {
		t.Helper()
		v := kit.Get[ladder.Version](t)(add(by, name))
		kit.Must(t, c.Versions.StartStage(bg, v.ID, "unpack"))
		kit.Must(t, c.Versions.Fail(bg, v.ID, phrase.Plain("secret")))
		return v
	}
	first := fails(p[0], "good-name")
	fails(p[0], "other") // a quota of 1 is not filled by it
	if v := fails(p[0], "good-name"); v.Number != 2 || v.BotID != first.BotID {
		t.Errorf("its owner's next version is %+v", v)
	}
	c.clock.skip(versionLimitPeriod - time.Minute)
	_, err := add(p[1], "good-name")
	wantError(t, err, ladder.Conflict, `bot "good-name" is somebody else's: choose another name`)
	c.clock.skip(time.Minute)
	taken, err := add(p[1], "good-name")
	kit.Must(t, err)
	if taken.Number != 1 || taken.Owner != p[1].ID {
		t.Errorf("another's first version is %+v", taken)
	}
	if versions, err := c.Versions.List(bg, taken.BotID, 0, -1); err != nil || len(versions) != 1 {
		t.Errorf("the new owner sees %d versions; %v", len(versions), err)
	}
	if messages, err := c.People.Messages(bg, p[0].ID, 0, 10); err != nil || len(messages) != 3 {
		t.Errorf("%d messages are left, want 3; %v", len(messages), err)
	}
	_, err = add(p[0], "good-name")
	wantError(t, err, ladder.Conflict, `bot "good-name" is somebody else's: choose another name`)
	_, err = add(p[0], "other")
	kit.Must(t, err)
	_, err = add(p[0], "third")
	wantError(t, err, ladder.Conflict, `1 bots are the limit, and "third" would be one more: submit a new version of one of them`)
	wantSound(t, c.Store)
}

// TestSameUpload checks that the upload of the live version is refused as such and uses no version number.
func TestSameUpload(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	v := c.addLive(p.ID, "anna-bot")
	_, err := c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: v.Bundle, StoreUpload: func() error { t.Error("it is kept again"); return nil }}, noLimits)
	wantError(t, err, ladder.Conflict, `bot "anna-bot": nothing has changed: version 1, which is live, has the same files and stays live: change something first`)
	_, err = c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(1), Hash: v.Hash}, noLimits) // in another archive
	wantError(t, err, ladder.Conflict, `bot "anna-bot": nothing has changed: version 1, which is live, has the same files and stays live: change something first`)
	if next := c.addLive(p.ID, "anna-bot"); next.Number != 2 {
		t.Errorf("the next version has number %d", next.Number)
	}
	// The upload of a version that rests is taken again.
	again, err := c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: v.Bundle}, noLimits)
	if err != nil || again.Number != 3 {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestDeletedNamesCountForLimit checks that two people who take each other's names do not evade the daily
// limit of versions.
func TestDeletedNamesCountForLimit(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben")
	few, n := ladder.Limits{Bots: 10, Versions: 2}, 0
	for i := range 10 {
		sum := writeUpload(t, c.Dir(), fmt.Sprint(i))
		v, err := c.Versions.Add(bg, p[i%2].ID, NewVersion{Bot: "ours", Bundle: sum}, few)
		if err == nil {
			n++
			kit.Must(t, c.Versions.StartStage(bg, v.ID, "unpack"))
			kit.Must(t, c.Versions.Fail(bg, v.ID, phrase.Plain("no")))
		}
	}
	if n > 2*few.Versions {
		t.Errorf("they have submitted %d versions within a day", n)
	}
}

// TestRetiredRemoteVersion checks that no match waits for a remote version that is not live, because it cannot
// connect.
func TestRetiredRemoteVersion(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p, first := c.addPeople("anna", "ben"), c.liveIDs("@first")[0]
	connect := func() ladder.Version {
		t.Helper()
		return kit.Get[ladder.Version](t)(c.Versions.ConnectRemote(bg, p[0].ID, RemoteVersion{Bot: "anna-bot", ForceNew: true}, noLimits))
	}
	v := connect()
	waits, plays := c.addUnrated(p[1].ID, v.ID, first), c.addUnrated(p[1].ID, v.ID, first)
	c.startAttempt(plays)
	connect()
	wantDropped := func(id int64) {
		t.Helper()
		m := kit.Get[ladder.Match](t)(c.Matches.Find(bg, id))
		if m.State != ladder.Dropped || m.Reason.String() != "version 1 of anna-bot plays no more" {
			t.Errorf("the match is %s: %q", m.State, m.Reason)
		}
	}
	wantDropped(waits.ID)
	kit.Get[bool](t)(c.Matches.InterruptAttempt(bg, plays.ID, 1, phrase.Plain("stop"), false))
	wantDropped(plays.ID)
	l := testLadders(t)[0]
	_, err := c.Matches.Add(bg, NewMatch{
		Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, Versions: []int64{v.ID, first}, RequestedBy: p[1].ID,
	})
	wantError(t, err, ladder.Conflict,
		"version 1 of anna-bot is retired: choose one that is live: remote bots connect with no other")
	kit.Must(t, c.Bots.UseVersion(bg, v.BotID, v.Number))
	c.addUnrated(p[1].ID, v.ID, first)
	wantSound(t, c.Store)
}
