-- Queries that read everything: only to verify a database.

-- name: AllEntries :many
SELECT * FROM entries WHERE ladder_id = ? ORDER BY since, version_id;

-- name: AllPairs :many
SELECT * FROM pairs WHERE ladder_id = ? ORDER BY a, b;

-- name: FinishedOnLadder :many
SELECT * FROM matches WHERE ladder_id = ? AND ord > sqlc.arg(last) AND ord <= sqlc.arg(upto) ORDER BY ord LIMIT sqlc.arg(n);

-- name: FinishedUnrated :many
SELECT * FROM matches WHERE ladder_id IS NULL AND state = 'finished' AND id > ? ORDER BY id LIMIT ?;

-- name: UnfinishedWithGames :many
SELECT DISTINCT matches.id FROM matches JOIN games ON games.match_id = matches.id
WHERE matches.state IN ('waiting', 'running', 'dropped') ORDER BY matches.id;

-- name: CountFinished :one
SELECT count(*) FROM matches WHERE state = 'finished';

-- name: HashesOf :many
SELECT match_slots.slot, match_slots.faulty, versions.hash, bots.person_id
FROM match_slots JOIN versions ON versions.id = match_slots.version_id JOIN bots ON bots.id = match_slots.bot_id
WHERE match_slots.match_id = ? ORDER BY match_slots.slot;
