-- Queries that read whole tables. They are only for verifying a database.

-- name: CountFinished :one
SELECT count(*) FROM matches WHERE state = 'finished';

-- name: PlayersOfMatch :many
-- The versions of a match, by slot.
SELECT match_slots.slot, versions.hash, versions.label, versions.number, versions.remote, bots.name, bots.person_id
FROM match_slots JOIN versions ON versions.id = match_slots.version_id JOIN bots ON bots.id = match_slots.bot_id
WHERE match_slots.match_id = ? ORDER BY match_slots.slot;

-- name: PlayersOfPlay :many
-- The people and bots of a game of people, by seat.
SELECT sqlc.embed(play_seats), coalesce(versions.hash, '') AS hash, coalesce(versions.label, '') AS label, coalesce(versions.number, 0) AS number,
  coalesce(versions.remote, 0) AS remote, coalesce(bots.name, people.name, '') AS name, bots.person_id AS owner
FROM play_seats LEFT JOIN versions ON versions.id = play_seats.version_id LEFT JOIN bots ON bots.id = play_seats.bot_id
LEFT JOIN people ON people.id = play_seats.person_id
WHERE play_seats.play_id = ? ORDER BY play_seats.seat;
