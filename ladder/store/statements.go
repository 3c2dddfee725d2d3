package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements prepares each statement once for each connection of a database. It runs them one by one,
// outside transactions.
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

// ExecContext runs a statement without rows.
func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// QueryContext runs a statement with rows.
func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := s.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// QueryRowContext runs a statement with one row.
func (s *statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := s.PrepareContext(ctx, query)
	if err != nil {
		return s.db.QueryRowContext(ctx, query, args...) // its error
	}
	return st.QueryRowContext(ctx, args...)
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

// begin begins a transaction that uses the statements.
func (s *statements) begin(ctx context.Context) (*statementsTx, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &statementsTx{Tx: tx, statements: s}, nil
}

// statementsTx is a transaction that uses prepared statements. To prepare one in it would wait for
// another connection, which the database of the writer does not have: prepare does that at the end.
type statementsTx struct {
	*sql.Tx
	statements *statements
	unknown    []string
}

// known returns a statement for the transaction, nil for one that is not prepared.
func (tx *statementsTx) known(ctx context.Context, query string) *sql.Stmt {
	if st := tx.statements.known(query); st != nil {
		return tx.StmtContext(ctx, st)
	}
	tx.unknown = append(tx.unknown, query)
	return nil
}

// ExecContext runs a statement without rows.
func (tx *statementsTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if st := tx.known(ctx, query); st != nil {
		return st.ExecContext(ctx, args...)
	}
	return tx.Tx.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement with rows.
func (tx *statementsTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if st := tx.known(ctx, query); st != nil {
		return st.QueryContext(ctx, args...)
	}
	return tx.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext runs a statement with one row.
func (tx *statementsTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if st := tx.known(ctx, query); st != nil {
		return st.QueryRowContext(ctx, args...)
	}
	return tx.Tx.QueryRowContext(ctx, query, args...)
}

// prepare prepares, after the end of the transaction, what it has used and was not prepared.
func (tx *statementsTx) prepare(ctx context.Context) {
	for _, query := range tx.unknown {
		tx.statements.PrepareContext(ctx, query) // the next transaction tells an error
	}
}
