package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// After a write that fails, the NATS server stores nothing in a stream any more, whatever becomes of
// the disk. Only a stream that is opened again stores again. The object store of bots is one.

// reopenRoom is how many bytes the disk must have free before the object store is opened again: a
// part of a bot's files.
const reopenRoom = MaxMessage

// health returns why the server does not store what it is given, nil if it does.
func (e *embedded) health() error {
	request, err := http.NewRequest(http.MethodGet, "/healthz?details=true", nil)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	w := page{header: http.Header{}}
	e.HandleHealthz(&w, request)
	var told struct {
		Errors []struct {
			Type, Error string
		} `json:"errors"`
	}
	if err := json.Unmarshal(w.Bytes(), &told); err != nil {
		return fmt.Errorf("nats: what the server tells of its health is %q: %w", w.String(), err)
	}
	var found []error
	for _, f := range told.Errors {
		if f.Type == "CONNECTION" {
			continue // it has started, and tells so only if it can in a millisecond
		}
		found = append(found, fmt.Errorf("nats: %s", f.Error))
	}
	return errors.Join(found...)
}

// reopen opens the object store again, if the disk has room. Connections stay.
func (e *embedded) reopen() error {
	if err := hasRoom(e.streams.StoreDir); err != nil {
		return fmt.Errorf("nats: the streams are closed until the disk has room: %w", err)
	}
	if err := e.ShutdownJetStream(); err != nil {
		return fmt.Errorf("nats: closing the streams: %w", err)
	}
	c := e.streams
	if err := e.EnableJetStream(&c); err != nil {
		return fmt.Errorf("nats: opening the streams again: %w", err)
	}
	return nil
}

// hasRoom returns an error unless reopenRoom bytes can be written to a directory.
func hasRoom(dir string) error {
	f, err := os.Create(filepath.Join(dir, "room"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, reopenRoom))
	return errors.Join(err, f.Sync(), f.Close())
}

// page is an HTTP answer in memory.
type page struct {
	header http.Header
	bytes.Buffer
}

// Header is of http.ResponseWriter, as is WriteHeader.
func (p *page) Header() http.Header { return p.header }

func (p *page) WriteHeader(int) {}
