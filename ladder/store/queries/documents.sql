-- name: AddDocument :exec
INSERT INTO documents (match_id, kind, size, hash, data) VALUES (?, ?, ?, ?, ?);

-- name: Document :one
SELECT documents.size, documents.hash, documents.data, archives.hash AS archive, documents.start, documents.length
FROM documents LEFT JOIN archives ON archives.id = documents.archive_id
WHERE documents.match_id = ? AND documents.kind = ?;

-- name: KeptMatchesAfter :many
-- Matches with an ID above a given one that finished before a given time and whose documents are in the database.
SELECT DISTINCT documents.match_id FROM documents JOIN matches ON matches.id = documents.match_id
WHERE documents.archive_id IS NULL AND documents.match_id > sqlc.arg(after) AND matches.finished < sqlc.arg(before)
ORDER BY documents.match_id LIMIT sqlc.arg(n);

-- name: KeptDocuments :many
SELECT kind, hash, data FROM documents WHERE match_id = ? AND archive_id IS NULL ORDER BY kind DESC;

-- name: KeptBefore :one
-- The number of matches that finished before a given time and whose documents are in the database, and the bytes of these.
SELECT count(DISTINCT documents.match_id) AS matches, CAST(coalesce(sum(length(documents.data)), 0) AS INTEGER) AS bytes
FROM documents JOIN matches ON matches.id = documents.match_id
WHERE documents.archive_id IS NULL AND matches.finished < sqlc.arg(before);

-- name: AddArchive :one
INSERT INTO archives (hash, size, created) VALUES (?, ?, ?) RETURNING id;

-- name: MoveDocument :execrows
UPDATE documents SET data = NULL, archive_id = ?, start = ?, length = ?
WHERE match_id = ? AND kind = ? AND hash = ? AND archive_id IS NULL;

-- name: Archives :many
SELECT archives.hash, archives.size, archives.created,
  (SELECT count(DISTINCT documents.match_id) FROM documents WHERE documents.archive_id = archives.id) AS matches
FROM archives ORDER BY archives.id;

-- name: ArchivedBytes :one
SELECT CAST(coalesce(sum(size), 0) AS INTEGER) AS bytes FROM archives;

-- name: HasArchive :one
SELECT EXISTS (SELECT 1 FROM archives WHERE hash = ?);

