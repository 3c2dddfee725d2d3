// Package store stores a competition in a directory: an SQLite database with people,
// bots, matches, their results and ratings.
//
// A Store has a service for each noun: Matches, Ladders, Versions, Bots, People, Sessions and Plays. A change is made in
// one transaction: when a method returns without an error the change is on the disk, and a change that fails changes
// nothing. Matches.Begin and Matches.Finish share a transaction with others that come at the same time; Sessions.Find and
// Sessions.SignIn read what they check before it.
//
// The schema is in schema.sql, the queries in queries/*.sql; the Go code beside
// those is generated from them.
package store

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
//go:generate go test -run TestGeneratedCodeIsFresh -update .

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Options of a store; the zero value is for a command beside the server.
type Options struct {
	// Now is the clock; nil stands for the system's.
	Now func() time.Time
	// Server takes the directory's lock, which only one has at a time, and makes the
	// directory and the database where there are none.
	Server bool
	// ReadOnly opens an existing database without a change to it.
	ReadOnly bool

	// Exclusive takes the lock of an existing directory: no server runs meanwhile.
	Exclusive bool

	// NoSync leaves it to the system when things come to the disk, so that a power cut may take them
	// back: for tests.
	NoSync bool
}

// Store is an open data directory. Its methods, and those of its services, may be called from any goroutine.
type Store struct {
	*db
	Matches  Matches
	Ladders  Ladders
	Versions Versions
	Bots     Bots
	People   People
	Sessions Sessions
	Plays    Plays
}

// The services have the queries and the changes of one noun each.
type (
	// Matches are the matches of the ladders and the unrated ones that people ask for, with their games.
	Matches struct{ *db }
	// Ladders are the ladders with their standings, ratings and pools.
	Ladders struct{ *db }
	// Versions are the versions of the bots, from the upload to the last match.
	Versions struct{ *db }
	// Bots are the bots of people and of the house.
	Bots struct{ *db }
	// People are the people who may sign in, their invites and messages.
	People struct{ *db }
	// Sessions are the tokens and the sessions of browsers, by which people are known.
	Sessions struct{ *db }
	// Plays are the games that people play on the site.
	Plays struct{ *db }
)

// db is what the services share: the database, its directory, and what is held of them in memory.
type db struct {
	dir         datadir.Dir
	now         func() time.Time
	readOnly    bool
	server      bool
	lock        *flock.Flock
	writer      *sql.DB      // one connection: SQLite has one writer at a time
	connections atomic.Int64 // connections of the writer, one after another
	readers     *sql.DB
	read        *Tx // each statement alone
	codec       *codec
	formula     rating.Formula
	archive     archive
	group       group
	cache       cache
	events      events.Hub

	// What follows belongs to who has the turn, which a transaction that writes takes.
	writeTurn chan struct{}
	version   dataVersion // of the database, as other programs have written it
}

// Open opens the data directory.
func Open(dir string, o Options) (*Store, error) { return open(dir, o, rating.Current) }

// open opens the data directory, with the formula of its ratings.
func open(dir string, o Options, formula rating.Formula) (_ *Store, err error) {
	d := &db{dir: datadir.Dir(dir), now: o.Now, readOnly: o.ReadOnly, server: o.Server, writeTurn: make(chan struct{}, 1), formula: formula}
	s := &Store{d, Matches{d}, Ladders{d}, Versions{d}, Bots{d}, People{d}, Sessions{d}, Plays{d}}
	s.archive = archive(s.dir.Archive())
	if s.now == nil {
		s.now = time.Now
	}
	defer func() {
		if err != nil {
			s.Close()
			err = machineError(err)
		}
	}()
	path := s.dir.Database()
	if err := s.prepareDir(o); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if s.writer, err = openDatabase(path, writerDSN(o), 1, &s.connections); err != nil {
			return nil, err
		}
	}
	if s.readers, err = openDatabase(path, readerDSN(o), max(4, runtime.GOMAXPROCS(0)), new(atomic.Int64)); err != nil {
		return nil, err
	}
	if err := s.prepareSchema(context.Background()); err != nil {
		return nil, err
	}
	s.read = &Tx{Queries: queries.New(s.readers), db: s.readers}
	s.codec, err = newCodec()
	return s, err
}

// prepareDir makes the directory for a server and locks it.
func (s *Store) prepareDir(o Options) error {
	if o.Server {
		for _, dir := range []string{string(s.dir), s.dir.Bundles()} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return unavailable("name a directory that can be written to, or fix it", "data: directory %q cannot be made: %w", s.dir, err)
			}
		}
		if err := s.acquireLock(); err != nil {
			return err
		}
		// It has the seeds of matches to come: nobody else is to read it, whatever
		// the rights of the directory. SQLite gives its other files the same rights.
		f, err := os.OpenFile(s.dir.Database(), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return unavailable("check the directory, its owner and its permissions", "data: the database cannot be opened: %w", err)
		}
		return f.Close()
	}
	if _, err := os.Stat(s.dir.Database()); errors.Is(err, fs.ErrNotExist) {
		return notFound("", "data: directory %q has no %s", s.dir, filepath.Base(s.dir.Database())).Try(ladder.HintStart, s.dir)
	} else if err != nil {
		return unavailable("name the directory of a server", "data: the database cannot be found: %w", err)
	}
	if o.Exclusive {
		return s.acquireLock()
	}
	return nil
}

// acquireLock makes this process the directory's server until Close.
func (s *Store) acquireLock() error {
	lock := flock.New(s.dir.Lock())
	ok, err := lock.TryLock()
	if err != nil {
		return unavailable("name a directory that can be written to, or fix it", "data: directory %q cannot be locked: %w", s.dir, err)
	}
	if !ok {
		return unavailable("stop that server, or name another directory", "data: directory %q is in use by another server", s.dir)
	}
	s.lock = lock
	return nil
}

// writerDSN returns the parameters of the DSN of the connection that writes. The pragmas are in it so that no
// connection of a pool lacks them. In WAL mode readers never wait for the writer. synchronous is
// FULL: the log is on the disk before a commit returns, so not even a power cut
// takes a match back that was told to be finished, whose seed is public by then;
// NORMAL would save one fsync a match and could lose the last ones.
func writerDSN(o Options) url.Values {
	sync := "synchronous(full)"
	if o.NoSync {
		sync = "synchronous(off)"
	}
	return url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "foreign_keys(1)", "journal_mode(wal)", sync, "cache_size(-65536)", "journal_size_limit(67108864)",
	}}
}

func readerDSN(o Options) url.Values {
	v := url.Values{"_pragma": {"busy_timeout(10000)", "foreign_keys(1)", "query_only(1)", "cache_size(-16384)"}}
	if o.ReadOnly {
		v.Set("mode", "ro")
	}
	return v
}

// Close ends all connections and gives the lock back. Every method fails after it.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.readers, s.writer} { // the last one out writes the log into the database
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Unlock())
	}
	return machineError(errors.Join(errs...))
}

// Events returns the hub on which the store tells what it has committed.
func (s *Store) Events() *events.Hub { return &s.events }

// Dir returns the data directory, as Open was given it.
func (s *Store) Dir() datadir.Dir { return s.dir }
