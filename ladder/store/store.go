// Package store stores a competition in a directory: an SQLite database with people, bots, matches, results and
// ratings, and the files beside it.
//
// A Store has one service for each noun: Matches, Ladders, Versions, Bots, People, Sessions and Plays. Each
// change is one transaction: if a method returns nil the change is on the disk, and if it returns an error
// nothing has changed. Matches.Start and Matches.Finish share a transaction with other calls that arrive at the
// same time, but each call succeeds or fails alone.
//
// The schema is in schema.sql and the queries are in queries/*.sql. The Go code beside the queries is generated
// by sqlc. Begin with Open.
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

// Options are the options of Open. The zero value suits a command that runs beside a server.
type Options struct {
	// Now returns the current time. If it is nil, the system clock is used.
	Now func() time.Time
	// Server opens the directory for a server: it takes the lock, which only one process can have, and creates the
	// directory and the database if they do not exist.
	Server bool
	// ReadOnly opens an existing database without changing it.
	ReadOnly bool

	// Exclusive takes the lock of an existing directory, so that no server can run at the same time.
	Exclusive bool

	// NoSync does not wait until changes are on the disk, so a power cut may undo the last ones. It is for tests.
	NoSync bool
}

// Store is an open data directory. Its methods and those of its services are safe for concurrent use.
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

// The services of a store. Each service reads and changes one kind of data.
type (
	// Matches has the rated and the unrated matches with their games.
	Matches struct{ *db }
	// Ladders has the ladders with their standings, ratings and pools.
	Ladders struct{ *db }
	// Versions has the versions of bots, from upload to retirement.
	Versions struct{ *db }
	// Bots has the bots of people, and the house bots that are part of timba.
	Bots struct{ *db }
	// People has the accounts with their invites and messages.
	People struct{ *db }
	// Sessions has the access tokens of people, and the browser sessions of people and guests.
	Sessions struct{ *db }
	// Plays has the games that people play on the site.
	Plays struct{ *db }
)

// db is the state that all services share: the database, its directory and the ladders cached in memory.
type db struct {
	dir         datadir.Dir
	options     Options
	lock        *flock.Flock
	writer      *sql.DB      // has one connection, because SQLite allows one writer at a time
	connections atomic.Int64 // number of connections that writer has opened so far
	readers     *sql.DB
	read        *Tx // runs each statement outside a transaction
	codec       *codec
	formula     rating.Formula
	archive     archive
	group       group
	cache       cache
	uses        sessionUses
	events      events.Bus
	writeTurn   writeTurn
}

// writeTurn is a lock that a transaction holds while it writes. Unlike waiting for a mutex, waiting for it can be
// cancelled.
type writeTurn struct {
	slot    chan struct{} // has an element while the lock is held
	version dataVersion   // of the database when the cache was last known to be valid; guarded by the lock
}

// Open opens the data directory dir with the options o. The caller must call Close to release the directory.
func Open(dir string, o Options) (*Store, error) { return open(dir, o, rating.Current) }

// open opens the data directory like Open, with the given rating formula.
func open(dir string, o Options, formula rating.Formula) (_ *Store, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &db{dir: datadir.Dir(dir), options: o, writeTurn: writeTurn{slot: make(chan struct{}, 1)}, formula: formula}
	s := &Store{d, Matches{d}, Ladders{d}, Versions{d}, Bots{d}, People{d}, Sessions{d}, Plays{d}}
	s.archive = archive(s.dir.Archive())
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
	if err := s.checkAccess(o); err != nil {
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

// prepareDir creates the directory if the store is opened for a server, and takes its lock if o requires the lock.
func (s *Store) prepareDir(o Options) error {
	if o.Server {
		for _, dir := range []string{string(s.dir), s.dir.Bundles()} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return unavailable("name a directory that can be written to, or fix it", "data: directory %q cannot be made: %w", s.dir, err)
			}
		}
		if err := datadir.CheckOwner(s.dir.Database()); err != nil {
			return unavailable("", "data: %w", err)
		}
		if err := s.acquireLock(); err != nil {
			return err
		}
		// The database contains secret seeds of running matches, so only its owner may read it, whatever the rights
		// of the directory. SQLite gives its other files the same rights.
		f, err := os.OpenFile(s.dir.Database(), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return unavailable("check the directory, its owner and its permissions", "data: the database cannot be opened: %w", datadir.ExplainDenied(err))
		}
		return f.Close()
	}
	if _, err := os.Stat(s.dir.Database()); errors.Is(err, fs.ErrNotExist) {
		return notFound("", "data: directory %q has no %s", s.dir, filepath.Base(s.dir.Database())).Try(ladder.HintStart, s.dir)
	} else if err != nil {
		return unavailable("name the directory of a server", "data: the database cannot be found: %w", datadir.ExplainDenied(err))
	}
	if o.Exclusive {
		return s.acquireLock()
	}
	return nil
}

// checkAccess returns an error if the user of this process may not use a file of the store. The error names the file;
// an error of SQLite would not.
func (s *Store) checkAccess(o Options) error {
	paths := []string{s.dir.Database(), s.dir.Database() + "-wal", s.dir.Database() + "-shm"}
	if o.Server {
		paths = append(paths, string(s.dir), s.dir.Bundles(), s.dir.Bots(), s.dir.Archive(), s.dir.Temp())
	}
	for _, path := range paths {
		if err := datadir.CheckAccess(path, !o.ReadOnly); err != nil {
			return unavailable("", "data: %w", err)
		}
	}
	return nil
}

// acquireLock takes the lock of the directory, which Close releases. It returns an error if another process has it.
func (s *Store) acquireLock() error {
	lock := flock.New(s.dir.Lock())
	ok, err := lock.TryLock()
	if err == nil && ok {
		if err = s.dir.GiveToOwner(s.dir.Lock()); err != nil {
			lock.Close()
		}
	}
	if err != nil {
		return unavailable("name a directory that can be written to, or fix it", "data: directory %q cannot be locked: %w", s.dir, datadir.ExplainDenied(err))
	}
	if !ok {
		return unavailable("stop that server, or name another directory", "data: directory %q is in use by another server", s.dir)
	}
	s.lock = lock
	return nil
}

// writerDSN returns the URI parameters of the connection that writes. The pragmas are part of the URI so that every
// connection of the pool has them. In WAL mode readers never wait for the writer. With synchronous=FULL a commit
// returns only when it is on the disk, so not even a power cut undoes a match that was reported as finished, whose
// seed is public by then. NORMAL would save one fsync per commit but could lose the last commits.
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

// Close closes all connections and releases the lock. Every other method fails afterwards.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.readers, s.writer} { // closing the last connection writes the log into the database
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Unlock())
	}
	return machineError(errors.Join(errs...))
}

// Events returns the bus on which the store publishes events after each commit.
func (s *Store) Events() *events.Bus { return &s.events }

// Dir returns the data directory that was passed to Open.
func (s *Store) Dir() datadir.Dir { return s.dir }
