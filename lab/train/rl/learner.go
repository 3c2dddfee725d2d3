package rl

import (
	"context"
	"runtime/debug"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Learner learns by every-visit or first-visit Monte Carlo control. It plays batches of
// episodes with the tables as they are, then adds what the batch has brought. The result depends
// on Config alone, not on the number of workers.
type Learner struct {
	config  Config
	games   func() Environment
	game    Environment // of evaluations
	workers int
	agents  []policy.Agent
	states  []*ReturnTable // by agent
	votes   []*ReturnTable // by agent; nil without
	pieces  []piece

	// Episodes is how many have been played.
	Episodes      int
	lastBatch     Counts // of the last batch
	sinceMetrics  Counts // since the last line of metrics
	hasLoggedFull bool   // the log says that the tables are full

	bytesAtGC int64 // bytes of the tables when garbage was last collected
}

// Counts are about the decisions of a batch.
type Counts struct {
	Episodes    int
	GreedyMoves int `json:"Chosen"` // that were not random for the sake of exploring
	KnownMoves  int `json:"Known"`  // of GreedyMoves, in a state that was known
}

const pieceEpisodes = 64

// piece is a part of a batch: what one worker plays at a time.
type piece struct {
	updates [][policy.Shards][]Update // by agent
	counts  Counts
}

// votesDivisor is the part of the memory that MC-MS has for its votes.
const votesDivisor = 4

// New returns a learner that has learned nothing. Games makes the games to learn; each is used by
// one goroutine. The config is valid.
func New(c Config, workers int, games func() Environment) *Learner {
	l := &Learner{config: c, games: games, game: games(), workers: workers}
	memory := int64(c.Memory) << 20 / int64(c.Agents)
	for range c.Agents {
		states := memory
		var a policy.Agent
		if c.Variant == policy.ManyStates {
			votes := NewTable(memory / votesDivisor)
			states -= memory / votesDivisor
			a.Votes = votes
			l.votes = append(l.votes, votes)
		}
		table := NewTable(states)
		table.UntriedAsZero = c.UntriedRule == UntriedZero
		a.States = table
		l.states = append(l.states, table)
		l.agents = append(l.agents, a)
	}
	l.pieces = make([]piece, (c.Batch+pieceEpisodes-1)/pieceEpisodes)
	for i := range l.pieces {
		l.pieces[i].updates = make([][policy.Shards][]Update, c.Agents)
	}
	return l
}

// Step plays the next batch and learns from it. When the context ends, it returns the error, and
// nothing of the batch has happened.
func (l *Learner) Step(ctx context.Context) error {
	n := min(l.config.Batch, l.config.Episodes-l.Episodes)
	pieces := l.pieces[:(n+pieceEpisodes-1)/pieceEpisodes]
	players := make([]*player, min(l.workers, len(pieces)))
	for i := range players {
		players[i] = l.newPlayer()
	}
	run.ForEach(l.workers, len(pieces), func(worker, i int) {
		if ctx.Err() == nil {
			first := i * pieceEpisodes
			players[worker].play(&pieces[i], l.Episodes+first, min(pieceEpisodes, n-first))
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	run.ForEach(l.workers, policy.Shards*len(l.agents), func(_, i int) { l.learnShard(pieces, i/policy.Shards, i%policy.Shards) })
	l.Episodes += n
	l.lastBatch = Counts{}
	for i := range pieces {
		l.lastBatch.add(pieces[i].counts)
	}
	l.collectGarbage()
	return nil
}

// learnShard learns what the pieces have for a shard of an agent, in their order.
func (l *Learner) learnShard(pieces []piece, agent, shard int) {
	least := float32(l.config.MinStep)
	states := l.states[agent]
	for i := range pieces {
		for _, u := range pieces[i].updates[agent][shard] {
			if l.votes == nil {
				states.Learn(u.Key, u.Action, u.Value, least)
				continue
			}
			if !states.UntriedAsZero {
				u.Legal = policy.AllActions // those that were tried are legal
			}
			before, known := states.Best(u.Key, u.Legal)
			states.Learn(u.Key, u.Action, u.Value, least)
			l.moveVote(agent, u, before, known)
		}
	}
}

// moveVote moves the vote of a state to the action that is now its best.
func (l *Learner) moveVote(agent int, u Update, before uint8, known bool) {
	after, ok := l.states[agent].Best(u.Key, u.Legal)
	if known && ok && before == after {
		return
	}
	if known {
		l.votes[agent].AddVotes(u.AbstractKey, before, -1)
	}
	if ok {
		l.votes[agent].AddVotes(u.AbstractKey, after, 1)
	}
}

// collectGarbage collects the garbage that tables leave when they grow, so that they take little more
// than their limit.
func (l *Learner) collectGarbage() {
	const worthwhile = 32 << 20
	if size := l.Bytes(); size-l.bytesAtGC > worthwhile {
		l.bytesAtGC = size
		debug.FreeOSMemory()
	}
}

// Bytes returns the memory of all tables.
func (l *Learner) Bytes() (n int64) {
	for _, t := range l.tables() {
		n += t.Bytes()
	}
	return n
}

// Rejections returns how many times the tables turned away what was new because they were full.
func (l *Learner) Rejections() (n uint64) {
	for _, t := range l.tables() {
		n += t.Rejections()
	}
	return n
}

func (c *Counts) add(d Counts) {
	c.Episodes += d.Episodes
	c.GreedyMoves += d.GreedyMoves
	c.KnownMoves += d.KnownMoves
}

// player plays episodes: one for each worker.
type player struct {
	learner   *Learner
	game      Environment
	view      policy.View
	decisions []decision
	final     []int
}

func (l *Learner) newPlayer() *player {
	return &player{learner: l, game: l.games(), final: make([]int, l.game.Players())}
}

// play plays so many episodes from one on.
func (p *player) play(out *piece, first, n int) {
	for agent := range out.updates {
		for shard := range out.updates[agent] {
			out.updates[agent][shard] = out.updates[agent][shard][:0]
		}
	}
	out.counts = Counts{}
	r := rules.NewRand(run.DeriveSeed(p.learner.config.Seed, "episodes", first))
	for episode := first; episode < first+n; episode++ {
		p.episode(episode, r, &out.counts)
		p.learner.config.emitReturns(p.decisions, p.final, func(d *decision, value float32) {
			list := &out.updates[p.learner.agentOf(int(d.seat), episode)][d.key.Shard()]
			*list = append(*list, Update{d.key, d.abstractKey, d.legal, value, d.action})
		})
	}
}

// agentOf returns the agent that plays a seat.
func (l *Learner) agentOf(seat, episode int) int { return (seat + episode) % len(l.agents) }

// episode plays an episode and keeps its decisions.
func (p *player) episode(episode int, r *rules.Rand, counts *Counts) {
	l, g := p.learner, p.game
	epsilon := l.config.epsilon(episode)
	heuristic := l.config.Reward == RewardHeuristic
	g.Deal(episode, r)
	p.decisions = p.decisions[:0]
	for seat := g.Turn(); seat != rules.Over; seat = g.Turn() {
		g.Observe(&p.view)
		d := decision{
			key: p.view.Key, abstractKey: p.view.FallbackKey, legal: p.view.Legal, seat: uint8(seat), score: int16(g.Score(seat)), trick: uint16(g.TricksEnded()),
		}
		var chosen, known bool
		d.action, chosen, known = EpsilonGreedy(&l.agents[l.agentOf(seat, episode)], &p.view, epsilon, r)
		if chosen {
			counts.GreedyMoves++
		}
		if known {
			counts.KnownMoves++
		}
		if heuristic {
			d.heuristic = float32(g.HeuristicValue(&p.view, d.action))
		}
		p.decisions = append(p.decisions, d)
		g.Play(&p.view, d.action)
	}
	for seat := range p.final {
		if p.final[seat] = g.Score(seat); l.config.Reward == RewardWon {
			p.final[seat] = g.Standing(seat)
		}
	}
	counts.Episodes++
}

// EpsilonGreedy returns a random action with the probability epsilon, else what the agent has chosen, and
// whether it knows the state.
func EpsilonGreedy(a *policy.Agent, v *policy.View, epsilon float64, r *rules.Rand) (action uint8, chosen, known bool) {
	if r.Uint64()>>32 < uint64(epsilon*(1<<32)) {
		return policy.RandomAction(v.Legal, r), false, false
	}
	action, known = a.Choose(v, r)
	return action, true, known
}
