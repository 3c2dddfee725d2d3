-- The replays of a match are compressed together, and so are its logs: what its games have in
-- common is kept once. Older matches have a row of replays and game_logs for each game until they
-- are packed anew. Old documents are moved to files.

-- +goose Up
CREATE TABLE archives (
  id      INTEGER PRIMARY KEY,
  hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the file, which is its name
  size    INTEGER NOT NULL,
  created INTEGER NOT NULL
) STRICT;

CREATE TABLE documents (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  kind       TEXT    NOT NULL CHECK (kind IN ('replays', 'logs')),
  size       INTEGER NOT NULL, -- before it was compressed
  hash       BLOB    NOT NULL CHECK (length(hash) = 32), -- SHA-256 of data
  data       BLOB,             -- zstd; NULL: it is in an archive
  archive_id INTEGER REFERENCES archives (id),
  start      INTEGER,          -- in the archive, in bytes, as length
  length     INTEGER,
  PRIMARY KEY (match_id, kind),
  CHECK ((data IS NULL) = (archive_id IS NOT NULL)),
  CHECK ((data IS NULL) = (start IS NOT NULL)),
  CHECK ((data IS NULL) = (length IS NOT NULL))
) STRICT;
CREATE INDEX documents_archive ON documents (archive_id) WHERE archive_id IS NOT NULL;
CREATE INDEX documents_kept ON documents (match_id) WHERE archive_id IS NULL;
