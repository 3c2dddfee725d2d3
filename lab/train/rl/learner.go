package rl

import (
	"context"
	"runtime/debug"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Learner learns by every-visit or first-visit Monte Carlo control. It plays batches of episodes with
// unchanged tables, then updates the tables by the returns of the batch. The result depends only on the
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

// Counts are statistics of the decisions in some episodes. The JSON keys are those of checkpoints.
type Counts struct {
	Episodes    int
	GreedyMoves int `json:"Chosen"` // decisions that were not random for exploration
	KnownMoves  int `json:"Known"`  // greedy decisions in a state that was in the table
}

const pieceEpisodes = 64

// piece is the part of a batch that one worker plays at a time.
type piece struct {
	updates [][policy.Shards][]Update // by agent and shard of its table
	counts  Counts
}

// votesDivisor determines, for the variant ManyStates, the part of an agent's memory that its table of votes
// has: the memory divided by votesDivisor.
const votesDivisor = 4

// New returns a learner with empty tables, which uses the given number of goroutines. The function games
// creates a game for one goroutine. The configuration must be valid.
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

// Step plays the next batch and learns from it. If ctx ends first, it returns its error and changes nothing.
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

// learnShard applies the updates of all pieces of a batch, in order, to one shard of the agent's table.
// Different goroutines may change different shards.
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
				u.Legal = policy.AllActions // only tried actions count, and these are legal
			}
			before, known := states.Best(u.Key, u.Legal)
			states.Learn(u.Key, u.Action, u.Value, least)
			l.moveVote(agent, u, before, known)
		}
	}
}

// moveVote updates the votes after the agent has learned u. In the table of votes, each state votes for its
// best action in the state of its fallback key, in which many states are alike. The vote moves from the
// action before, if known is true, to the present best action.
func (l *Learner) moveVote(agent int, u Update, before uint8, known bool) {
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

// collectGarbage returns memory to the operating system when the tables have grown much since the last time,
// so that the process stays near its limit.
func (l *Learner) collectGarbage() {
	const worthwhile = 32 << 20
	if size := l.Bytes(); size-l.bytesAtGC > worthwhile {
		l.bytesAtGC = size
		debug.FreeOSMemory()
	}
}

// Bytes returns the memory that all tables use.
func (l *Learner) Bytes() (n int64) {
	for _, t := range l.tables() {
		n += t.Bytes()
	}
	return n
}

// Rejections returns how often the tables, because they were full, rejected a new pair of state and action.
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

// play plays n episodes, numbered from first on, and replaces the contents of out by their results.
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
			*list = append(*list, Update{d.key, d.fallbackKey, d.legal, value, d.action})
		})
	}
}

func (l *Learner) agentOf(seat, episode int) int { return (seat + episode) % len(l.agents) }

func (p *player) episode(episode int, r *rules.Rand, counts *Counts) {
	l, g := p.learner, p.game
	epsilon := l.config.epsilon(episode)
	heuristic := l.config.Reward == RewardHeuristic
	g.Deal(episode, r)
	p.decisions = p.decisions[:0]
	for seat := g.Turn(); seat != rules.Over; seat = g.Turn() {
		g.Observe(&p.view)
		d := decision{
			key: p.view.Key, fallbackKey: p.view.FallbackKey, legal: p.view.Legal, seat: uint8(seat), score: int16(g.Score(seat)), trick: uint16(g.TricksEnded()),
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

// EpsilonGreedy returns a random legal action with probability epsilon, and otherwise the action that the
// agent chooses in v. The result greedy is false for a random action. The result known is true if the agent
// chose and knew the state.
func EpsilonGreedy(a *policy.Agent, v *policy.View, epsilon float64, r *rules.Rand) (action uint8, greedy, known bool) {
	if r.Uint64()>>32 < uint64(epsilon*(1<<32)) {
		return policy.RandomAction(v.Legal, r), false, false
	}
	action, known = a.Choose(v, r)
	return action, true, known
}
