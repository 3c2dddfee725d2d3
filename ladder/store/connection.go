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

// openDatabase opens the SQLite database at path with at most conns connections at a time. params are URI parameters
// of each connection. opened counts all connections that have ever been made. It may exceed conns, because the driver
// may close a connection when a context ends, and a new one replaces it.
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

func databaseURI(path string, params url.Values) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive of Windows
		path = "/" + path
	}
	name := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return "file:" + name + "?" + params.Encode(), nil
}

// connector makes connections that cache prepared statements.
type connector struct {
	driver.Connector
	connections *atomic.Int64
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.connections.Add(1)
	return &connection{conn.(sqliteConn), map[string]driver.Stmt{}}, nil
}

// sqliteConn lists the interfaces that a connection of the driver implements.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// connection prepares each statement of package queries once. Only one goroutine at a time uses it.
type connection struct {
	sqliteConn
	statements map[string]driver.Stmt
}

// statement returns the prepared statement for a query of package queries, and caches it. For any other query it
// returns nil. Statements such as PRAGMA must not be prepared early, because preparing them already has an effect.
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

func (c *connection) Close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}
