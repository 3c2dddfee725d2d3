// Package store stores a competition in a directory: an SQLite database with people,
// bots, matches, games and ratings. Every method is one transaction: its success is
// on the disk, its failure changes nothing.
//
// The schema is in migrations, the queries in queries/*.sql; the Go code beside
// those is generated from them.
package store

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
//go:generate go test -run TestGeneratedCodeIsFresh -update .

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/elo"
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

// Store is an open data directory. Its methods may be called from any goroutine.
type Store struct {
	dir      datadir.Dir
	now      func() time.Time
	readOnly bool
	lock     *flock.Flock
	writer   *sql.DB // one connection: SQLite has one writer at a time
	readers  *sql.DB
	write    *queries.Queries
	read     *queries.Queries
	codec    *codec
	formula  elo.Formula // of new ladders, and of those that are rated again
	archive  archive
	group    group
	states   states

	// What follows belongs to who has the turn, which a transaction that writes takes.
	turn    chan struct{}
	effects []effect           // of the transaction
	quiet   bool               // it is results and new matches alone
	rows    rows               // that it adds at its end
	running map[int64]*running // attempts, by match: those that are not here are in the database
	version int64              // of the database, as other programs have written it
}

// Open opens the data directory and brings its database up to date.
func Open(dir string, o Options) (_ *Store, err error) {
	s := &Store{dir: datadir.Dir(dir), now: o.Now, readOnly: o.ReadOnly, turn: make(chan struct{}, 1), formula: elo.Current, running: map[int64]*running{}}
	s.archive = archive(s.dir.Archive())
	if s.now == nil {
		s.now = time.Now
	}
	defer func() {
		if err != nil {
			s.Close()
			err = explain(err)
		}
	}()
	path := s.dir.Database()
	if err := s.prepareDir(o); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if s.writer, err = open(path, writerDSN(o), 1); err != nil {
			return nil, err
		}
	}
	if s.readers, err = open(path, readerDSN(o), max(4, runtime.GOMAXPROCS(0))); err != nil {
		return nil, err
	}
	if err := s.migrate(context.Background()); err != nil {
		return nil, err
	}
	if err := s.prepare(context.Background()); err != nil {
		return nil, err
	}
	return s, nil
}

// prepareDir makes the directory for a server and locks it.
func (s *Store) prepareDir(o Options) error {
	if o.Server {
		for _, dir := range []string{string(s.dir), s.dir.Bundles()} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return unavailable("name a directory that can be written to, or fix it", "data: directory %q cannot be made: %w", s.dir, err)
			}
		}
		if err := s.takeLock(); err != nil {
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
		return ladder.Errorf(ladder.NotFound, "name the directory of a server, or start one there with timba serve --data "+string(s.dir),
			"data: directory %q has no %s", s.dir, filepath.Base(s.dir.Database()))
	} else if err != nil {
		return unavailable("name the directory of a server", "data: the database cannot be found: %w", err)
	}
	if o.Exclusive {
		return s.takeLock()
	}
	return nil
}

// takeLock makes this process the directory's server until Close.
func (s *Store) takeLock() error {
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

// The pragmas of every connection are in its DSN, so that no connection of a
// pool lacks them. In WAL mode readers never wait for the writer. synchronous is
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

func open(path string, params url.Values, conns int) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	name := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	db, err := sql.Open("sqlite", "file:"+name+"?"+params.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// prepare compiles every statement once for each connection.
func (s *Store) prepare(ctx context.Context) (err error) {
	if s.read, err = queries.Prepare(ctx, s.readers); err != nil {
		return err
	}
	if s.writer != nil {
		if s.write, err = queries.Prepare(ctx, s.writer); err != nil {
			return err
		}
	}
	s.codec, err = newCodec()
	return err
}

// Close ends all connections and gives the lock back. Every method fails after it.
func (s *Store) Close() error {
	var errs []error
	for _, q := range []*queries.Queries{s.read, s.write} {
		if q != nil {
			errs = append(errs, q.Close())
		}
	}
	for _, db := range []*sql.DB{s.readers, s.writer} { // the last one out writes the log into the database
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Unlock())
	}
	return explain(errors.Join(errs...))
}

// Dir returns the data directory, as Open was given it.
func (s *Store) Dir() datadir.Dir { return s.dir }

// update runs f in one write transaction.
func (s *Store) update(ctx context.Context, f func(*queries.Queries) error) error {
	return s.updateTx(ctx, func(_ *sql.Tx, q *queries.Queries) error { return f(q) })
}

// updateTx is update for who needs the transaction, too. What f leaves in s.effects is done once it is
// committed, before the next transaction begins.
func (s *Store) updateTx(ctx context.Context, f func(*sql.Tx, *queries.Queries) error) error {
	if s.readOnly {
		return unavailable("open it without read-only", "data: directory %q is open read-only", s.dir)
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	s.effects, s.quiet = s.effects[:0], false
	s.rows.clear()
	err = s.noticeOthers(ctx, tx)
	if err == nil {
		q := s.write.WithTx(tx)
		if err = f(tx, q); err == nil {
			err = s.rows.write(ctx, q)
		}
	}
	if err != nil {
		if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("rollback: %w", rollback))
		}
		return explain(undone(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		s.forget() // it may have been committed
		return explain(undone(ctx, err))
	}
	for _, e := range s.effects {
		if e.running != nil {
			s.running[e.match] = e.running
		}
	}
	s.states.apply(s.effects, !s.quiet)
	return nil
}

// forget makes all be read again that is kept in memory.
func (s *Store) forget() {
	s.running = map[int64]*running{}
	s.states.forget()
}

// noticeOthers forgets what is kept in memory after another program has written.
func (s *Store) noticeOthers(ctx context.Context, db queries.DBTX) error {
	var version int64
	if err := db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return err
	}
	if version != s.version {
		s.forget()
		s.version = version
	}
	return nil
}

// notice forgets what is kept in memory if another program has written. While something is written
// here, that was done as it began.
func (s *Store) notice(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	default:
		return nil
	}
	return explain(s.noticeOthers(ctx, s.writer))
}

// undone returns the context's error where err only says that the end of the context
// has undone the transaction.
func undone(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// view runs f on one state of the database.
func (s *Store) view(ctx context.Context, f func(*queries.Queries) error) error {
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() // it has changed nothing
	return explain(undone(ctx, f(s.read.WithTx(tx))))
}
