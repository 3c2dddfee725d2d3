-- Queries that read everything: only to verify a database.

-- name: AllEntries :many
SELECT * FROM standing_rows WHERE ladder_id = ? ORDER BY since, version_id;

-- name: AllPairs :many
SELECT * FROM pairs WHERE ladder_id = ? ORDER BY a, b;

-- name: FinishedOnLadder :many
SELECT match_rows.* FROM results CROSS JOIN match_rows ON match_rows.id = results.match_id
WHERE results.ladder_id = ? AND results.ord > sqlc.arg(last) AND results.ord <= sqlc.arg(upto) ORDER BY results.ord LIMIT sqlc.arg(n);

-- name: FinishedUnrated :many
SELECT * FROM match_rows WHERE ladder_id IS NULL AND state = 'finished' AND id > ? ORDER BY id LIMIT ?;

-- name: UnfinishedWithResults :many
-- Matches that are not finished and have what only finished ones have.
SELECT matches.id, matches.state FROM matches WHERE matches.state IN ('waiting', 'running', 'dropped') AND (
  EXISTS (SELECT 1 FROM results WHERE results.match_id = matches.id)
  OR EXISTS (SELECT 1 FROM documents WHERE documents.match_id = matches.id)
  OR EXISTS (SELECT 1 FROM changes WHERE changes.match_id = matches.id)
  OR EXISTS (SELECT 1 FROM match_slots WHERE match_slots.match_id = matches.id AND match_slots.faulty = 1)
) ORDER BY matches.id;

-- name: UnfinishedAttempts :many
SELECT sqlc.embed(attempts), matches.state, matches.began AS match_began
FROM matches JOIN attempts ON attempts.match_id = matches.id
WHERE matches.state IN ('waiting', 'running', 'dropped') ORDER BY matches.id, attempts.number;

-- name: CountFinished :one
SELECT count(*) FROM matches WHERE state = 'finished';

-- name: HashesOf :many
SELECT match_slots.slot, match_slots.version_id, match_slots.faulty, versions.hash, bots.name, bots.person_id
FROM match_slots JOIN versions ON versions.id = match_slots.version_id JOIN bots ON bots.id = match_slots.bot_id
WHERE match_slots.match_id = ? ORDER BY match_slots.slot;

-- name: LastOrder :one
-- The order of the last match of a ladder.
SELECT CAST(coalesce(max(ord), 0) AS INTEGER) AS ord FROM results WHERE ladder_id = ? AND ord IS NOT NULL;

-- name: CountResults :one
SELECT count(*), CAST(coalesce(max(id), 0) AS INTEGER) AS highest FROM results;

-- name: CountFingerprints :one
-- The games of a ladder that the matches up to an order had first.
SELECT count(*) FROM fingerprints WHERE ladder_id = ? AND ord <= ?;

-- name: WronglyActive :many
-- The versions that play on a ladder and must not, or the other way round.
-- One that plays and has no entry is among them.
SELECT dues.version_id FROM dues
LEFT JOIN entries ON entries.ladder_id = dues.ladder_id AND entries.version_id = dues.version_id
WHERE dues.ladder_id = ? AND coalesce(entries.active, 0) <> dues.due ORDER BY dues.version_id;

-- name: PlaysAfter :many
SELECT * FROM plays WHERE id > ? ORDER BY id LIMIT ?;

-- name: LastRated :one
-- The order of the last game that has moved ratings of people.
SELECT CAST(coalesce(max(rated), 0) AS INTEGER) AS rated FROM plays;

-- name: AllPersonRatings :many
SELECT * FROM person_ratings ORDER BY game, person_id;

-- name: PlayersOf :many
-- The people and bots of a game of people.
SELECT sqlc.embed(play_seats), coalesce(versions.hash, '') AS hash, coalesce(bots.name, people.name, '') AS name, bots.person_id AS owner
FROM play_seats LEFT JOIN versions ON versions.id = play_seats.version_id LEFT JOIN bots ON bots.id = play_seats.bot_id
LEFT JOIN people ON people.id = play_seats.person_id
WHERE play_seats.play_id = ? ORDER BY play_seats.seat;
