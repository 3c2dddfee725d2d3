package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/referee/match"
)

// The subjects of a machine.
func jobsSubject(machine string) string    { return "jobs." + machine }
func resultsSubject(machine string) string { return "results." + machine }
func filesSubject(machine string) string   { return "files." + machine }
func beatSubject(machine string) string    { return "machines." + machine }
func inboxPrefix(machine string) string    { return "_INBOX_" + machine }

// machineOf returns the machine of a subject.
func machineOf(subject string) string {
	_, machine, _ := strings.Cut(subject, ".")
	return machine
}

// Local is the name of the machine of the server's process.
const Local = "local"

var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// CheckName returns an error for what cannot be the name of a machine.
func CheckName(name string) error {
	if !machineName.MatchString(name) {
		return fmt.Errorf("worker: the name %q is not valid: try up to 40 lower-case letters, digits and hyphens, such as lab-3", name)
	}
	return nil
}

// word is what the server says to a machine: an attempt to play, or one to end.
type word struct {
	Play *order     `json:"play,omitempty"`
	End  *attemptOf `json:"end,omitempty"`
}

// order is a job on its way to a machine.
type order struct {
	Job
	Machine string           `json:"machine"` // nobody else may play it
	Sandbox *match.Sandbox   `json:"sandbox,omitempty"`
	Builds  map[string]build `json:"builds,omitempty"` // by Bot.Hash
}

// filePart is what a machine asks for of the packed files of a bot.
type filePart struct {
	Tree   string `json:"tree"`
	Offset int64  `json:"offset"`
}

// resultPart is the line before a part of a packed result.
type resultPart struct {
	attemptOf
	Sum    string `json:"sum"`  // SHA-256 of the whole, in hexadecimal
	Size   int    `json:"size"` // of the whole
	Offset int    `json:"offset"`
}

// receipt is what the server answers to a part of a result.
type receipt struct {
	Next   int  `json:"next"`             // offset of the part that it wants
	Full   bool `json:"full,omitempty"`   // it has enough of this machine's results: again later
	Forget bool `json:"forget,omitempty"` // the result is stored, or will never be
}

// attemptOf names an attempt.
type attemptOf struct {
	Match   int64 `json:"match"`
	Attempt int   `json:"attempt"`
}

func (a attemptOf) String() string { return fmt.Sprintf("%d-%d", a.Match, a.Attempt) }

// beat is what a machine tells of itself, every few seconds and when it changes.
type beat struct {
	Machine
	Session string `json:"session"` // of this run of the worker
	Leaving bool   `json:"leaving,omitempty"`
}

// answer is what the server answers to a beat.
type answer struct {
	AckTime time.Duration `json:"ack_time"`          // nanoseconds
	Refused string        `json:"refused,omitempty"` // why the machine gets no jobs
	End     bool          `json:"end,omitempty"`     // it never will
	Over    []attemptOf   `json:"over,omitempty"`    // attempts that the machine mentions in vain
}

// compressor is safe for several goroutines.
var compressor = sync.OnceValue(func() *zstd.Encoder {
	w, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	return w
})

// Pack returns a result as it is handed in, in at most so many bytes: a line about the attempt, and the
// games, compressed. What is too large loses what the bots said beside their moves, the logs first, and
// becomes a Failure in the end.
func Pack(r Result, most int) ([]byte, error) {
	games := r.Games
	r.Games = nil
	for cut := 0; ; cut++ {
		switch cut {
		case 0:
		case 1:
			for _, g := range games {
				clear(g.Logs)
			}
		case 2:
			for _, g := range games {
				for i := range g.Moves {
					g.Moves[i].Info = nil
				}
			}
		default:
			games = nil
			r.Failure = &Failure{Kind: FailedMachine, Text: fmt.Sprintf("the result has more than %d bytes: play fewer deals, or allow larger messages", most)}
		}
		packed, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("result: %w", err)
		}
		packed = append(packed, '\n')
		document, err := json.Marshal(games)
		if err != nil {
			return nil, fmt.Errorf("result: %w", err)
		}
		packed = compressor().EncodeAll(document, packed)
		if len(packed) <= most && len(document) <= MaxResult || cut > 2 {
			return packed, nil
		}
	}
}

// Unpack reads what Pack returns, or anything that a machine hands in instead. The games are left to
// Delivery.Unpack.
func Unpack(data []byte) (d Delivery, err error) {
	head, games, ok := bytes.Cut(data[:min(len(data), MaxPacked)], []byte("\n"))
	if !ok || len(head) > MaxHead {
		return d, errors.New("result: it does not begin with a line about its attempt")
	}
	if err := json.Unmarshal(head, &d.Result); err != nil {
		return d, fmt.Errorf("result: %w", err)
	}
	switch {
	case len(d.Games) > 0:
		return d, errors.New("result: it has games in the line about its attempt")
	case d.Starved < 0 || d.Voids < d.Starved || d.Voids > maxVoids || d.Took < 0 || d.Took > KeepResults:
		return d, fmt.Errorf("result: %d games, %d of them starved, were played again in %s", d.Voids, d.Starved, d.Took)
	}
	if f := d.Failure; f != nil {
		if f.Text = shown(f.Text); !slices.Contains(failureKinds, f.Kind) {
			f.Kind = FailedMachine
		}
	}
	d.packed = games
	return d, nil
}

// maxVoids is how many games a machine can have played again, in a match.
const maxVoids = 1_000_000
