//go:build soak

package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// The size of the competition for the benchmarks. It is created once, in about a minute, and Verify finds no
// difference in it.
const (
	benchMatches = 100_000
	benchBots    = 500
	benchPool    = 20 // matches per ladder that are really played; they are stored many times
)

// crowd is a competition with many bots and a pool of played matches.
type crowd struct {
	*competition
	ladders []ladder.Ladder
	bots    []string
	live    []int64
	pool    map[string][]pooledResult
	rand    *rand.Rand
}

type pooledResult struct {
	seed  rules.Seed
	games []*referee.GameResult
}

// newCrowd creates the bots, half of them with a second version, and plays the pool.
func newCrowd(tb testing.TB, bots, pool int) *crowd {
	tb.Helper()
	c := &crowd{competition: openStore(tb, tb.TempDir()), pool: map[string][]pooledResult{}, rand: rand.New(rand.NewPCG(1, 1))}
	c.ladders = config.Default().Ladders
	for i := range c.ladders {
		c.ladders[i].Deals, c.ladders[i].House = 1, []string{"@random", "@first", "@greedy"}
		c.ladders[i].Clock.Move = time.Minute // so that no bot is late while the pool is played
	}
	kit.Must(tb, c.Bots.SyncHouse(bg, []HouseBot{{Name: "@random", Label: "1", Hash: bundleOf(2)}, {Name: "@first", Label: "1", Hash: bundleOf(2)}, {Name: "@greedy", Label: "1", Hash: bundleOf(2)}}))
	kit.Must(tb, c.Ladders.Sync(bg, c.ladders))
	for i := range bots {
		name := fmt.Sprintf("bot-%d", i)
		p := kit.Get[ladder.Person](tb)(c.People.Add(bg, fmt.Sprintf("person-%d", i), false))
		c.bots = append(c.bots, name)
		for range 1 + i%2 {
			v := c.addBuilt(p.ID, name)
			kit.Must(tb, c.Versions.Promote(bg, v.ID))
			if len(c.live) == i {
				c.live = append(c.live, v.ID)
			}
			c.live[i] = v.ID
		}
	}
	c.live = append(c.live, c.liveIDs("@random", "@first", "@greedy")...)
	for _, l := range c.ladders {
		for range pool {
			c.pool[l.Name] = append(c.pool[l.Name], c.play(l))
		}
	}
	return c
}

func (c *crowd) play(l ladder.Ladder) pooledResult {
	m := ladderMatch(l)
	for slot := range m.Versions {
		m.Versions[slot] = c.rand.Int64N(3)
	}
	seed := referee.NewSeed()
	return pooledResult{seed, playMatch(c.tb, m, seed)}
}

// fill stores n finished matches, many in one transaction.
func (c *crowd) fill(n int) {
	c.tb.Helper()
	const batch = 500
	f := &filler{store: c.Store, packed: map[*referee.GameResult]packedMatch{}}
	for ; n > 0; n -= batch {
		kit.Must(c.tb, c.update(bg, func(tx *Tx) error {
			for range min(n, batch) {
				l := c.ladders[c.rand.IntN(len(c.ladders))]
				p := c.pool[l.Name][c.rand.IntN(len(c.pool[l.Name]))]
				if err := f.keep(tx, NewMatch{Ladder: l.Name, Versions: c.draw(l.Bots)}, p); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// filler stores matches from the pool as Matches.Add, Start and Finish would, many in one transaction. It
// compresses the documents of each pooled match only once.
type filler struct {
	store  *Store
	packed map[*referee.GameResult]packedMatch // by its first game
}

type packedMatch struct {
	played    []*referee.GameResult
	documents []queries.AddDocumentParams
}

// keep stores a match as finished.
func (f *filler) keep(tx *Tx, m NewMatch, p pooledResult) error {
	packed, ok := f.packed[p.games[0]]
	if !ok {
		packed.played, packed.documents = f.store.pack(p.games)
		f.packed[p.games[0]] = packed
	}
	begun, err := tx.startMatch(bg, MatchStart{New: &m, Seed: p.seed})
	if err != nil {
		return err
	}
	_, err = f.store.finishMatch(bg, tx, begun.Match.ID, 1, packed.played, packed.documents)
	return err
}

// draw returns n random bots that are close to each other in the list.
func (c *crowd) draw(n int) (ids []int64) {
	at := c.rand.IntN(len(c.live))
	for len(ids) < n {
		if id := c.live[(at+c.rand.IntN(40))%len(c.live)]; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// finishOne stores a match in three transactions, as the runner does, and returns the duration of the last one.
func (c *crowd) finishOne(r *rand.Rand) (took time.Duration) {
	c.tb.Helper()
	l := c.ladders[r.IntN(len(c.ladders))]
	p := c.pool[l.Name][r.IntN(len(c.pool[l.Name]))]
	var ids []int64
	for _, i := range r.Perm(len(c.live))[:l.Bots] {
		ids = append(ids, c.live[i])
	}
	m, err := c.Matches.Add(bg, NewMatch{Ladder: l.Name, Versions: ids})
	kit.Must(c.tb, err)
	err = c.Matches.Start(bg, []MatchStart{{Match: m.ID, Seed: p.seed}})[0].Err
	kit.Must(c.tb, err)
	began := time.Now()
	_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), p.games)
	took = time.Since(began)
	kit.Must(c.tb, err)
	return took
}

// TestCrowdIsSound checks that the filler stores what Finish stores: Verify finds only that the replays name
// other bots.
func TestCrowdIsSound(t *testing.T) {
	c := newCrowd(t, 20, 1)
	c.fill(60)
	for range 5 {
		c.finishOne(c.rand)
	}
	found := kit.Get[[]Difference](t)(c.Verify(bg, nil))
	for _, d := range found {
		if !strings.Contains(d.Description, " by the replay, and ") { // the games of the pool are of others
			t.Errorf("verify: %s", d)
		}
	}
}

// bigCrowd returns the competition of BenchmarkStore, which all its parts share. From then on a commit waits
// for the disk, as on a server.
func bigCrowd(b *testing.B) *crowd {
	began := time.Now()
	c := newCrowd(b, benchBots, benchPool)
	c.fill(benchMatches)
	_, err := c.writer.Exec("PRAGMA synchronous = full")
	kit.Must(b, err)
	b.Logf("%d matches in %v", benchMatches, time.Since(began).Round(time.Second))
	return c
}

// BenchmarkStore measures how long readers wait while a writer finishes one match after the other. The metric
// is the 95th percentile in milliseconds.
func BenchmarkStore(b *testing.B) {
	c := bigCrowd(b)
	for _, x := range []struct {
		name string
		read func(r *rand.Rand)
	}{
		{"standings", func(r *rand.Rand) {
			_, err := c.Ladders.Standings(bg, c.ladders[r.IntN(len(c.ladders))].Name)
			kit.Must(b, err)
		}},
		{"bot", func(r *rand.Rand) { c.botPage(b, c.bots[r.IntN(len(c.bots))]) }},
		{"replay", func(r *rand.Rand) {
			_, err := c.Matches.Replay(bg, gameIDFactor*(1+r.Int64N(benchMatches)))
			kit.Must(b, err)
		}},
		{"ladder state", func(r *rand.Rand) {
			name := c.ladders[r.IntN(len(c.ladders))].Name
			c.met(name, c.players(name)[0].ID)
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			stop := c.writing()
			r := rand.New(rand.NewPCG(3, 4))
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				x.read(r)
				took = append(took, time.Since(began))
			}
			written := stop()
			report(b, took)
			b.ReportMetric(written, "writes/s")
		})
	}
	b.Run("finish", func(b *testing.B) {
		r := rand.New(rand.NewPCG(5, 6))
		var took []time.Duration
		for b.Loop() {
			took = append(took, c.finishOne(r))
		}
		report(b, took)
	})
}

// botPage runs the queries of a bot's page.
func (c *crowd) botPage(b *testing.B, name string) {
	bot := kit.Get[ladder.Bot](b)(c.Bots.Find(bg, name))
	versions := kit.Get[[]ladder.Version](b)(c.Versions.List(bg, bot.ID, 0, -1))
	places := kit.Get[[]ladder.Standing](b)(c.Ladders.StandingsOf(bg, bot.ID))
	matches := kit.Get[[]ladder.Match](b)(c.Matches.List(bg, MatchFilter{Bot: name, Limit: 50}))
	if len(matches) != 50 || len(places) == 0 {
		b.Fatalf("%s has %d versions, %d places and %d matches", name, len(versions), len(places), len(matches))
	}
	for _, p := range places {
		if p.VersionID == versions[0].ID {
			_, err := c.Ladders.ChangeHistory(bg, p.Ladder, p.VersionID, 200)
			kit.Must(b, err)
		}
	}
}

// writing finishes matches in the background. stop ends that and returns the number of matches per second.
func (c *crowd) writing() (stop func() float64) {
	end := make(chan struct{})
	var group sync.WaitGroup
	n, began := 0, time.Now()
	group.Go(func() {
		r := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
		for {
			select {
			case <-end:
				return
			default:
				c.finishOne(r)
				n++
			}
		}
	})
	return func() float64 {
		close(end)
		group.Wait()
		return float64(n) / time.Since(began).Seconds()
	}
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1e3, "p95-ms")
}

// BenchmarkFinish measures Finish for a match of each default ladder, from the results to the committed ratings.
func BenchmarkFinish(b *testing.B) {
	c := openStore(b, b.TempDir())
	names := []string{"@random", "@first", "@greedy", "@last"}
	var bots []HouseBot
	for _, name := range names {
		bots = append(bots, HouseBot{Name: name, Label: "1", Hash: bundleOf(2)})
	}
	kit.Must(b, c.Bots.SyncHouse(bg, bots))
	ladders := config.Default().Ladders
	for i := range ladders {
		ladders[i].House = names
		ladders[i].Clock.Move = time.Minute // the machine may be busy
	}
	kit.Must(b, c.Ladders.Sync(bg, ladders))
	ids := c.liveIDs(names...)
	for _, l := range ladders {
		m := ladderMatch(l)
		seed := referee.NewSeed()
		played := playMatch(b, m, seed)
		b.Run(l.Name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				m, err := c.Matches.Add(bg, NewMatch{Ladder: l.Name, Versions: ids[:l.Bots]})
				kit.Must(b, err)
				err = c.Matches.Start(bg, []MatchStart{{Match: m.ID, Seed: seed}})[0].Err
				kit.Must(b, err)
				b.StartTimer()
				_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played)
				kit.Must(b, err)
			}
		})
	}
}

// BenchmarkFit measures fitting the ratings of 1,000 versions from 1,000,000 games, which are 50,000 matches of
// 10 deals.
func BenchmarkFit(b *testing.B) {
	c := newCrowd(b, 1000, 1)
	r := rand.New(rand.NewPCG(8, 9))
	kit.Must(b, c.update(bg, func(tx *Tx) error {
		l, err := tx.LadderByName(bg, "tute-2")
		if err != nil {
			return err
		}
		for range 50_000 {
			i := r.IntN(1000)
			j := (i + 1 + r.IntN(50)) % 1000
			p := rating.PairChange{A: min(c.live[i], c.live[j]), B: max(c.live[i], c.live[j])}
			for range 10 {
				score := float64(r.IntN(3)) / 2
				p.Deals, p.Score, p.Squares = p.Deals+1, p.Score+score, p.Squares+score*score
			}
			if err := tx.AddPair(bg, pairRow(l.ID, p)); err != nil {
				return err
			}
		}
		return nil
	}))
	for b.Loop() {
		ids, pairs, err := c.Ladders.Pairs(bg, "tute-2")
		kit.Must(b, err)
		stats.FitPairs(len(ids), pairs, nil)
	}
}

// BenchmarkRows measures the bytes per match in the database, without replays and logs, for 4,000 matches
// between 100 bots.
func BenchmarkRows(b *testing.B) {
	for i, l := range config.Default().Ladders {
		if !slices.Contains([]string{"brisca-2", "podrida-4", "tebes-4", "tebes-6"}, l.Name) {
			continue
		}
		b.Run(l.Name, func(b *testing.B) {
			c := newCrowd(b, 100, 0)
			c.ladders[i].Deals = l.Deals
			kit.Must(b, c.Ladders.Sync(bg, c.ladders))
			c.ladders = c.ladders[i : i+1]
			for range 8 {
				c.pool[l.Name] = append(c.pool[l.Name], c.play(c.ladders[0]))
			}
			for b.Loop() {
				c.fill(4000)
			}
			var bytes int64
			u := kit.Get[DiskUsage](b)(c.Usage(bg))
			for _, t := range u.Tables {
				if t.Table != "documents" || t.Index != "" {
					bytes += t.Bytes
				}
			}
			b.ReportMetric(float64(bytes)/float64(u.Games[0].Matches), "bytes/match")
		})
	}
}

// BenchmarkVerify measures how long it takes to verify 5,000 matches between 100 bots.
func BenchmarkVerify(b *testing.B) {
	const matches = 5000
	c := newCrowd(b, 100, 5)
	c.fill(matches)
	for b.Loop() {
		kit.Get[[]Difference](b)(c.Verify(bg, nil))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/matches, "µs/match")
}
