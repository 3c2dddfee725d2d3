package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements prepares each statement once for each connection of a database.
type statements struct {
	db  *sql.DB
	mu  sync.RWMutex
	all map[string]*sql.Stmt
}

// known returns a statement that is prepared, nil for one that is not.
func (s *statements) known(query string) *sql.Stmt {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all[query]
}

// PrepareContext returns a statement, which stays open.
func (s *statements) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := s.known(query); st != nil {
		return st, nil
	}
	st, err := s.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.all[query]; first != nil { // meanwhile
		st.Close()
		return first, nil
	}
	s.all[query] = st
	return st, nil
}

// Close closes the statements and the database.
func (s *statements) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, st := range s.all {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// runner runs statements, one by one or in a transaction. To prepare one in a transaction would wait for
// another connection, which the database of the writer does not have: prepare does that at the end.
type runner struct {
	*statements
	tx      *sql.Tx // nil: one by one
	unknown []string
}

// begin begins a transaction.
func (s *statements) begin(ctx context.Context) (*runner, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	return &runner{statements: s, tx: tx}, err
}

// statement returns a statement, nil for one that is not prepared, or cannot be.
func (r *runner) statement(ctx context.Context, query string) *sql.Stmt {
	if r.tx == nil {
		st, _ := r.PrepareContext(ctx, query)
		return st
	}
	if st := r.known(query); st != nil {
		return r.tx.StmtContext(ctx, st)
	}
	r.unknown = append(r.unknown, query)
	return nil
}

// unprepared returns what runs a statement that is not prepared, and has the error of one that cannot be.
func (r *runner) unprepared() interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
} {
	if r.tx == nil {
		return r.db
	}
	return r.tx
}

// ExecContext runs a statement without rows.
func (r *runner) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if st := r.statement(ctx, query); st != nil {
		return st.ExecContext(ctx, args...)
	}
	return r.unprepared().ExecContext(ctx, query, args...)
}

// QueryContext runs a statement with rows.
func (r *runner) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if st := r.statement(ctx, query); st != nil {
		return st.QueryContext(ctx, args...)
	}
	return r.unprepared().QueryContext(ctx, query, args...)
}

// QueryRowContext runs a statement with one row.
func (r *runner) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if st := r.statement(ctx, query); st != nil {
		return st.QueryRowContext(ctx, args...)
	}
	return r.unprepared().QueryRowContext(ctx, query, args...)
}

// prepare prepares, after the end of the transaction, what it has used and was not prepared.
func (r *runner) prepare(ctx context.Context) {
	for _, query := range r.unknown {
		r.PrepareContext(ctx, query) // the next transaction tells an error
	}
}
