package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"

	"modernc.org/sqlite"
)

// openDatabase opens an SQLite database with at most some connections, each with the given parameters. opened counts
// those that were made: one is replaced by another when the end of a context has interrupted it.
func openDatabase(path string, params url.Values, conns int, opened *atomic.Int64) (*sql.DB, error) {
	uri, err := databaseURI(path, params)
	if err != nil {
		return nil, err
	}
	c, err := sqlite.NewConnector(uri)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{c, opened})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// databaseURI returns the URI of a database with parameters, as SQLite reads it.
func databaseURI(path string, params url.Values) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	name := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return "file:" + name + "?" + params.Encode(), nil
}

// connector makes connections that keep their statements.
type connector struct {
	driver.Connector
	connections *atomic.Int64
}

// Connect returns a new connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.connections.Add(1)
	return &connection{conn.(sqliteConn), map[string]driver.Stmt{}}, nil
}

// sqliteConn is what a connection of the driver has.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// connection is a connection that prepares each statement of package queries once. One goroutine at a time uses it.
type connection struct {
	sqliteConn
	statements map[string]driver.Stmt
}

// statement returns a prepared statement, nil for one that is not of package queries: some of those, such as
// PRAGMA, have an effect as they are prepared.
func (c *connection) statement(ctx context.Context, query string) (driver.Stmt, error) {
	if !strings.HasPrefix(query, "-- name: ") {
		return nil, nil
	}
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	s, err := c.PrepareContext(ctx, query)
	if err == nil {
		c.statements[query] = s
	}
	return s, err
}

// ExecContext runs a statement without rows.
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return s.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext runs a statement with rows.
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	return s.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// Close closes the statements and the connection.
func (c *connection) Close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}
