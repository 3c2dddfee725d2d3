-- Queries that read everything: only to verify a database.

-- name: AllMatches :many
SELECT matches.*, coalesce(ladders.name, '') AS ladder FROM matches LEFT JOIN ladders ON ladders.id = matches.ladder_id
WHERE matches.id > ? ORDER BY matches.id LIMIT ?;

-- name: AllEntries :many
SELECT * FROM entries WHERE ladder_id = ? ORDER BY version_id;

-- name: AllPairs :many
SELECT * FROM pairs WHERE ladder_id = ? ORDER BY a, b;

-- name: FinishedAfter :many
SELECT * FROM matches WHERE ladder_id = ? AND ord > ? ORDER BY ord LIMIT ?;

-- name: CountFinished :one
SELECT count(*) FROM matches WHERE state = 'finished';

-- name: CountGames :one
SELECT count(*) FROM games;

-- name: CountChanges :one
SELECT count(*) FROM changes WHERE ladder_id = ?;
