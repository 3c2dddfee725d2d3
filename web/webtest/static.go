package webtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/site"
)

// StaticWorld is a competition for a test that is served without playing matches. It has only the matches that the
// test adds; its pages update when that happens.
type StaticWorld struct {
	World
	Ladder   *laddertest.World
	Store    *store.Store
	Ada      ladder.Person // account of a person without a bot
	AdaToken string
}

// Hash is the hash of every upload and program in a StaticWorld.
var Hash = strings.Repeat("5a", 32)

// NewStaticWorld serves a competition with the ladders of Ladders and bots of timba, without matches. configure,
// unless nil, changes the options of the site before it starts.
func NewStaticWorld(t testing.TB, configure func(*site.Options)) *StaticWorld {
	t.Helper()
	s := &StaticWorld{World: World{T: t, log: new(kit.Output)}, Ladder: laddertest.New(t, Ladders, store.Options{})}
	s.Store = s.Ladder.Store
	s.Ladder.SyncHouseBots(func(string) string { return Hash })
	s.Must(s.Store.Ladders.Sync(t.Context(), s.Ladder.Config.Ladders))
	s.Ada = s.Ladder.AddPerson("ada", false)
	s.AdaToken = s.NewToken(s.Ada, ladder.ScopeSubmit)
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	m := middleware.New(middleware.Options{Service: service.New(service.Options{Store: s.Store, Config: s.Ladder.Config}), Log: log})
	a := api.New(api.Options{Middleware: m})
	o := site.Options{Middleware: m, Document: api.Document()}
	o.Live = live.NewHub(live.Options{Store: s.Store, Limits: live.DefaultLimits(s.Ladder.Config.Live.Total)})
	if configure != nil {
		configure(&o)
	}
	pages, err := site.New(o)
	s.Must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var moves sync.WaitGroup
	moves.Go(func() { o.Live.Run(ctx) })
	server := httptest.NewUnstartedServer(nil)
	server.Config = middleware.NewServer(a.Handler(pages), log)
	server.Start()
	s.URL = server.URL
	t.Cleanup(func() {
		cancel()
		moves.Wait()
		server.Close()
		if text := s.log.String(); strings.Contains(text, "level=ERROR") {
			t.Errorf("the server's log has errors:\n%s", text)
		}
	})
	return s
}

// NewToken creates a token of person p and returns its text.
func (s *StaticWorld) NewToken(p ladder.Person, scope ladder.Scope) string {
	s.T.Helper()
	text, _, err := s.Store.Sessions.AddToken(s.T.Context(), p.ID, "test", scope, time.Time{})
	s.Must(err)
	return text
}

// MakeLive adds a version to the bot called bot, which belongs to the person Ada, and makes the bot play with it. b
// is the result of the version's build.
func (s *StaticWorld) MakeLive(bot string, b store.BuildInfo) ladder.Version {
	s.T.Helper()
	number := 0
	if x, err := s.Store.Bots.Find(s.T.Context(), bot); err == nil {
		list := kit.Get[[]ladder.Version](s.T)(s.Store.Versions.List(s.T.Context(), x.ID, 0, -1))
		number = len(list)
	}
	v := s.Ladder.Submit(s.Ada.ID, bot, fmt.Sprintf("%064x", number+1))
	if b.Hash == "" {
		b.Hash = Hash
	}
	return s.Ladder.MakeLive(v.ID, b)
}

// Player plays as a bot: it reads the referee's lines until they end, and writes its answers. What it writes to log
// is stored as the bot's standard error.
type Player func(lines io.Reader, answers, log io.Writer) error

// House returns a player that plays as the house bot with this name. House bots are part of timba. The name has no @,
// as in "greedy".
func House(name string) Player {
	return func(lines io.Reader, answers, _ io.Writer) error { return house.Run(name, lines, answers) }
}

// Illegal returns a player that answers each turn with move, which should be illegal, and writes text to its log.
func Illegal(move, text string) Player {
	return func(lines io.Reader, answers, log io.Writer) error {
		io.WriteString(log, text)
		scan := bufio.NewScanner(lines)
		for scan.Scan() {
			switch word, _, _ := strings.Cut(scan.Text(), " "); word {
			case "timba":
				io.WriteString(answers, "ready\n")
			case "turn":
				io.WriteString(answers, "move "+move+"\n")
			case "bye":
				return nil
			}
		}
		return scan.Err()
	}
}

// Play plays a match between the given versions on a ladder, stores it and returns it. versions has the IDs of the
// versions. players has the player of each version, by ID; a version that is not in players plays as @random.
func (s *StaticWorld) Play(ladderName string, versions []int64, players map[int64]Player) ladder.Match {
	s.T.Helper()
	ctx := s.T.Context()
	m, err := s.Store.Matches.Add(ctx, store.NewMatch{Ladder: ladderName, Versions: versions})
	s.Must(err)
	seed := referee.NewSeed()
	err = s.Store.Matches.Start(ctx, []store.MatchStart{{Match: m.ID, Seed: seed}})[0].Err
	s.Must(err)
	v, err := m.Variant()
	s.Must(err)
	var games []*referee.GameResult
	rm := match.Match{Variant: v, Deals: m.Deals, Seed: seed, Clock: m.Clock}
	for slot, id := range m.Versions {
		player := players[id]
		if player == nil {
			player = House("random")
		}
		bot := match.Contestant{Name: fmt.Sprintf("%s/%d", m.Bots[slot], m.Numbers[slot]), Hash: Hash}
		bot.Serve = func(lines io.Reader, answers io.Writer) error { return player(lines, answers, io.Discard) }
		rm.Bots = append(rm.Bots, bot)
	}
	s.Must(rm.Play(ctx, func(g *referee.GameResult) error {
		g.Reveal(seed)
		games = append(games, g)
		return nil
	}))
	for _, g := range games {
		for seat, slot := range g.Bots {
			if player := players[m.Versions[slot]]; player != nil {
				var log bytes.Buffer
				player(strings.NewReader("bye\n"), io.Discard, &log)
				g.Logs[seat] = log.Bytes()
			}
		}
	}
	_, err = s.Store.Matches.Finish(ctx, m.ID, 1, games)
	s.Must(err)
	m, err = s.Store.Matches.Find(ctx, m.ID)
	s.Must(err)
	return m
}

// PlayEach plays the given number of matches between bots of timba on each ladder.
func (s *StaticWorld) PlayEach(matches int) {
	s.T.Helper()
	for _, l := range s.Ladder.Config.Ladders {
		var versions []int64
		players := map[int64]Player{}
		for _, name := range l.House {
			id := s.Version(name)
			versions, players[id] = append(versions, id), House(strings.TrimPrefix(name, "@"))
		}
		for n := range matches {
			at := n % (len(versions) - l.Bots + 1)
			s.Play(l.Name, versions[at:at+l.Bots], players)
		}
	}
}

// LastFinished returns the match of a ladder that finished last, and its games. The ladder must have a finished
// match.
func (s *StaticWorld) LastFinished(ladderName string) (ladder.Match, []ladder.FinishedGame) {
	s.T.Helper()
	list, err := s.Store.Matches.List(s.T.Context(), store.MatchFilter{Ladder: ladderName, State: ladder.Finished, Limit: 1})
	s.Must(err)
	games, err := s.Store.Matches.Games(s.T.Context(), list[0].ID)
	s.Must(err)
	return list[0], games
}

// Version returns the ID of the version with which the bot with this name plays.
func (s *StaticWorld) Version(bot string) int64 {
	s.T.Helper()
	b := kit.Get[ladder.Bot](s.T)(s.Store.Bots.Find(s.T.Context(), bot))
	places := kit.Get[[]ladder.Standing](s.T)(s.Store.Ladders.PlacesOfBot(s.T.Context(), b.ID))
	return places[0].VersionID
}
