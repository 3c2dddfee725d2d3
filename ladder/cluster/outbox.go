package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	renameio "github.com/google/renameio/v2/maybe"
)

// packedResult is the compressed result of a match, ready to be sent to the server.
type packedResult struct {
	attemptKey
	data []byte
}

// outbox stores the results of a worker on its disk until the server has stored them. If the worker is killed,
// its next run sends the remaining results.
type outbox struct {
	dir           string
	unsentResults []packedResult // left by an earlier run
}

const resultSuffix = ".result"

// openOutbox opens the outbox in dir and reads the results that an earlier run left there.
func openOutbox(dir string) (o outbox, err error) {
	o.dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return o, fmt.Errorf("results: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return o, fmt.Errorf("results: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return o, fmt.Errorf("results: %w", err)
		}
		r, err := Unpack(data)
		info, statErr := e.Info()
		if err != nil || statErr != nil || !strings.HasSuffix(path, resultSuffix) || time.Since(info.ModTime()) > ResultRetention {
			if err := os.Remove(path); err != nil { // half written, or too old to be wanted
				return o, fmt.Errorf("results: %w", err)
			}
			continue
		}
		o.unsentResults = append(o.unsentResults, packedResult{attemptKey{r.Match, r.Attempt}, data})
	}
	return o, nil
}

func (o outbox) path(a attemptKey) string { return filepath.Join(o.dir, a.String()+resultSuffix) }

func (o outbox) store(p packedResult) error {
	if err := renameio.WriteFile(o.path(p.attemptKey), p.data, 0o600); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

func (o outbox) remove(a attemptKey) error {
	if err := os.Remove(o.path(a)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// deliver sends a result in parts and then deletes it. It sends until the server answers that it has stored or
// refused the result, or until the server no longer wants it. If the worker stops first, the result stays on the
// disk.
func (w *Worker) deliver(ctx context.Context, p packedResult) {
	defer w.attempts.remove(p.attemptKey)
	w.metrics.waiting.Inc()
	defer w.metrics.waiting.Dec()
	sum := sha256.Sum256(p.data)
	part := resultPart{attemptKey: p.attemptKey, Sum: hex.EncodeToString(sum[:]), Size: len(p.data)}
	for wait := firstRetry; ; {
		r, err := w.sendPart(ctx, part, p.data)
		if r.Forget || errors.Is(context.Cause(ctx), errOver) {
			break
		}
		if err == nil {
			part.Offset, wait = r.Next, firstRetry
			continue
		}
		if ctx.Err() == nil && wait == firstRetry {
			w.Log.Warn("a result cannot be handed in yet", "match", p.Match, "attempt", p.Attempt, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			wait = min(2*wait, lastRetry)
		}
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errOver) {
			return
		}
	}
	if err := w.outbox.remove(p.attemptKey); err != nil {
		w.Log.Warn("a result that is handed in cannot be deleted", "match", p.Match, "err", err)
	}
}

// sendPart sends the part of a packed result that begins at p.Offset, and returns the server's answer.
func (w *Worker) sendPart(ctx context.Context, p resultPart, packed []byte) (r receipt, err error) {
	message, err := json.Marshal(p)
	if err != nil {
		return r, err
	}
	part := packed[p.Offset:min(p.Offset+PartSize, len(packed))]
	message = append(append(message, '\n'), part...)
	answer, err := w.server.sendPart(ctx, len(part), message)
	if err == nil {
		err = json.Unmarshal(answer, &r)
	}
	switch {
	case err != nil:
		return receipt{}, err
	case r.Full:
		return r, errors.New("the server waits until it has stored others of this worker")
	case !r.Forget && (r.Next < 0 || r.Next >= len(packed)):
		return r, fmt.Errorf("the server wants byte %d of %d", r.Next, len(packed))
	}
	return r, nil
}
