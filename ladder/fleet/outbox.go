package fleet

import (
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

// parcel is a result that is to be handed in.
type parcel struct {
	attemptOf
	Packed []byte `json:"packed"`
}

// outbox keeps results on the disk until the server has them, so that a worker which is killed
// hands them in when it is back.
type outbox struct{ dir string }

const parcelSuffix = ".result"

// openOutbox opens the directory and returns what an earlier run left there.
func openOutbox(dir string) (o outbox, left []parcel, err error) {
	o.dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return o, nil, fmt.Errorf("results: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return o, nil, fmt.Errorf("results: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		var p parcel
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		info, statErr := e.Info()
		if err != nil || statErr != nil || !strings.HasSuffix(path, parcelSuffix) || time.Since(info.ModTime()) > KeepResults {
			if err := os.Remove(path); err != nil { // half written, or too old to be wanted
				return o, nil, fmt.Errorf("results: %w", err)
			}
			continue
		}
		left = append(left, p)
	}
	return o, left, nil
}

func (o outbox) path(a attemptOf) string { return filepath.Join(o.dir, a.String()+parcelSuffix) }

// keep writes a parcel, completely or not at all.
func (o outbox) keep(p parcel) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if err := renameio.WriteFile(o.path(p.attemptOf), data, 0o600); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// drop forgets a parcel.
func (o outbox) drop(a attemptOf) error {
	if err := os.Remove(o.path(a)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}
