package rl

import (
	"context"
	"runtime/debug"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Learner learns by every-visit Monte Carlo control. It plays a batch of episodes without changing
// its tables, and then updates the tables with the returns of the batch. The result depends only on the
// configuration, not on the number of workers.
type Learner struct {
	config  Config
	games   func() Environment // creates a game for a goroutine
	game    Environment        // for evaluations
	workers int
	agents  []policy.Agent
	states  []*ReturnTable // by agent
	votes   []*ReturnTable // by agent, see moveVote; nil unless the variant is ManyStates
	pieces  []piece

	// Episodes is the number of episodes played so far.
	Episodes      int
	lastBatch     Counts
	sinceMetrics  Counts // since the last line of metrics
	hasLoggedFull bool   // the log says that the tables are full

	bytesAtGC int64 // size of the tables at the last garbage collection
}

// Counts are statistics of a number of episodes. The JSON keys are those of checkpoints.
type Counts struct {
	Episodes    int
	GreedyMoves int `json:"Chosen"` // decisions that were not random for exploration
	KnownMoves  int `json:"Known"`  // greedy decisions in a state that was in the table
}

const pieceEpisodes = 64

// piece is a part of a batch of episodes, which one worker plays.
type piece struct {
	updates [][policy.Shards][]Update // by agent and shard of its table
	counts  Counts
}

// New returns a learner with empty tables, which uses the given number of goroutines. It calls games to create the
// games that the goroutines play. The configuration c must be valid.
func New(c Config, workers int, games func() Environment) *Learner {
	l := &Learner{config: c, games: games, game: games(), workers: workers}
	memory := int64(c.Memory) << 20 / int64(c.Agents)
	for range c.Agents {
		states := memory
		var a policy.Agent
		if c.Variant == policy.ManyStates {
			states = memory / 2
			votes := NewTable(memory - states)
			a.Votes = votes
			l.votes = append(l.votes, votes)
		}
		table := NewTable(states)
		table.UntriedAsZero, table.KeepsPolicy = c.UntriedRule == UntriedZero, c.keepsPolicy()
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

// Step plays the next batch of episodes and learns from it. If ctx ends first, Step returns the error of ctx
// and learns nothing.
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

// learnShard updates one shard (a part) of an agent's table with all returns of a batch, in the order of pieces.
// Calls for different shards or agents may run in parallel.
func (l *Learner) learnShard(pieces []piece, agent, shard int) {
	r := rules.NewRand(run.DeriveSeed(l.config.Seed, "policy", (l.Episodes*len(l.agents)+agent)*policy.Shards+shard))
	for i := range pieces {
		for _, u := range pieces[i].updates[agent][shard] {
			if l.votes == nil {
				l.learn(agent, &u, r)
				continue
			}
			before, known := l.states[agent].Best(u.Key, u.Legal)
			l.learn(agent, &u, r)
			l.moveVote(agent, &u, before, known)
		}
	}
}

// learn updates the table of an agent with the return u. If the table stores a chosen action for each state, learn also
// chooses the action of this state again; r makes the random choices. agent is the index of the agent.
func (l *Learner) learn(agent int, u *Update, r *rules.Rand) {
	states := l.states[agent]
	states.Learn(u.Key, u.Action, u.Value, float32(l.config.MinStep))
	if states.KeepsPolicy {
		states.Keep(u.Key, l.config.publishedAction(states, u, l.config.epsilon(l.Episodes), r))
	}
}

// moveVote updates the agent's table of votes after the agent has learned u. Each state votes for its best action.
// The vote counts under the fallback key of the state, which many similar states share. If known is true, the state
// has so far voted for the action with the number before, and moveVote withdraws that vote. Then the state votes
// for its present best action.
func (l *Learner) moveVote(agent int, u *Update, before uint8, known bool) {
	after, ok := l.states[agent].Best(u.Key, u.Legal)
	if known && ok && before == after {
		return
	}
	if known {
		l.votes[agent].AddVotes(u.FallbackKey, before, -1)
	}
	if ok {
		l.votes[agent].AddVotes(u.FallbackKey, after, 1)
	}
}

// collectGarbage returns unused memory to the operating system if the tables have grown by more than 32 MiB since
// it last did so. This keeps the process near its memory limit.
func (l *Learner) collectGarbage() {
	const worthwhile = 32 << 20
	if size := l.Bytes(); size-l.bytesAtGC > worthwhile {
		l.bytesAtGC = size
		debug.FreeOSMemory()
	}
}

// Bytes returns the memory that all tables use, in bytes.
func (l *Learner) Bytes() (n int64) {
	for _, t := range l.tables() {
		n += t.Bytes()
	}
	return n
}

// Rejections returns how often a full table rejected a new pair of state and action.
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

// player plays episodes for one worker.
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

// play plays n episodes, the first of which has the number first. It replaces the contents of *out by their
// results.
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
			*list = append(*list, Update{d.key, d.fallbackKey, d.legal, d.order, value, d.action})
		})
	}
}

func (l *Learner) agentOf(seat, episode int) int { return (seat + episode) % len(l.agents) }

func (p *player) episode(episode int, r *rules.Rand, counts *Counts) {
	l, g := p.learner, p.game
	epsilon := l.config.epsilon(episode)
	if l.config.hasDefect(DefectStored) {
		epsilon = 0
	}
	heuristic := l.config.Reward == RewardHeuristic
	g.Deal(episode, r)
	p.decisions = p.decisions[:0]
	for seat := g.Turn(); seat != rules.Over; seat = g.Turn() {
		g.Observe(&p.view)
		d := decision{
			key: p.view.Key, fallbackKey: p.view.FallbackKey, legal: p.view.Legal, seat: uint8(seat), score: int16(g.Reward(seat)), trick: uint16(g.TricksEnded()),
		}
		if l.config.keepsPolicy() {
			d.order = g.Order(&p.view)
		}
		var chosen, known bool
		learning := policy.Agent{States: l.states[l.agentOf(seat, episode)]} // plays at random in an unknown state
		d.action, chosen, known = EpsilonGreedy(&learning, &p.view, epsilon, r)
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
		g.Play(&p.view, d.action, true)
	}
	for seat := range p.final {
		if p.final[seat] = g.Reward(seat); l.config.Reward == RewardWon {
			p.final[seat] = g.Standing(seat)
		}
	}
	counts.Episodes++
}

// EpsilonGreedy returns a random legal action with probability epsilon, and otherwise the action that the agent
// chooses in v. greedy is true if the agent has chosen the action, and known is true if it also knew the state.
func EpsilonGreedy(a *policy.Agent, v *policy.View, epsilon float64, r *rules.Rand) (action uint8, greedy, known bool) {
	if isDrawn(epsilon, r) {
		return policy.RandomAction(v.Legal, r), false, false
	}
	action, known = a.Choose(v, r)
	return action, true, known
}

func isDrawn(probability float64, r *rules.Rand) bool {
	return r.Uint64()>>32 < uint64(probability*(1<<32))
}
