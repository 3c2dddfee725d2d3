package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// handleResult handles a message with a part of a result. If the message gets no answer, the machine sends it
// again. The last part is answered only when the result has been stored or refused; the machine then deletes the
// result.
func (h *Dispatcher) handleResult(msg *nats.Msg) {
	name := machineOf(msg.Subject)
	h.metrics.bytes.Add(float64(len(msg.Data)))
	head, data, _ := bytes.Cut(msg.Data, []byte("\n"))
	var p resultPart
	outcome, answer, err := gotUnreadable, receipt{}, json.Unmarshal(head, &p)
	if err == nil {
		outcome, answer, err = h.addPart(name, p, data, msg)
	}
	switch outcome {
	case gotAgain:
		return
	case gotPart:
		h.reply(msg, answer)
		return
	case gotWanted:
	default:
		h.Log.Warn("a result is refused", "why", outcome, "machine", name, "match", p.Match, "attempt", p.Attempt, "err", err)
		h.reply(msg, receipt{Forget: true})
	}
	h.metrics.results.WithLabelValues(outcome).Inc()
}

// addPart adds data, a part of a result, to what has arrived of that result from the machine called name. msg is the
// message that contained the part. When the result is complete, addPart passes it to the goroutine that waits for it,
// and msg is answered later. outcome says what was done with the part. If outcome is gotPart, answer is the answer to
// msg.
func (h *Dispatcher) addPart(name string, p resultPart, data []byte, msg *nats.Msg) (outcome string, answer receipt, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.attempts.all[p.attemptKey]
	switch {
	case a == nil && h.attempts.mayArrive(p.attemptKey):
		return gotAgain, answer, nil
	case a == nil:
		return gotOld, answer, nil
	case a.machine != name:
		return gotForeign, answer, nil
	case a.state == received:
		a.lastPart = msg
		return gotAgain, answer, nil
	case p.Size < 0 || p.Size > MaxPacked:
		return gotUnreadable, answer, fmt.Errorf("result: it has %d bytes of at most %d", p.Size, MaxPacked)
	case p.Sum != a.upload.Sum || p.Size != a.upload.Size:
		if h.attempts.uploadSize(name)-a.upload.Size+p.Size > MaxUploads {
			return gotPart, receipt{Full: true}, nil
		}
		a.upload = upload{Sum: p.Sum, Size: p.Size}
	}
	u := &a.upload
	if p.Offset == len(u.data) {
		u.data = append(u.data, data[:min(len(data), u.Size-len(u.data))]...)
	}
	if len(u.data) < u.Size {
		return gotPart, receipt{Next: len(u.data)}, nil
	}
	d, err := u.unpack()
	switch {
	case err != nil:
		outcome = gotUnreadable
	case d.Machine != name || d.Match != p.Match || d.Attempt != p.Attempt || !a.accepts(d.Result):
		outcome = gotForeign
	default:
		u.data, a.lastPart, a.state = nil, msg, received
		a.result <- d
		return gotWanted, answer, nil
	}
	a.upload = upload{}
	return outcome, answer, err
}

// upload is the part of a result that has arrived so far; its end is missing.
type upload struct {
	Sum  string // SHA-256 of the whole result, in hexadecimal
	Size int    // of the whole result, in bytes
	data []byte // from the beginning of the result
}

func (u *upload) unpack() (Delivery, error) {
	if sum := sha256.Sum256(u.data); hex.EncodeToString(sum[:]) != u.Sum {
		return Delivery{}, fmt.Errorf("result: its %d bytes do not have the hash %.64q", u.Size, u.Sum)
	}
	return Unpack(u.data)
}
