-- name: AddPlay :exec
INSERT INTO plays (id, person_id, session, game, options, seat, state, commitment, began) VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?);

-- name: AddPlaySeat :exec
INSERT INTO play_seats (play_id, seat, version_id, bot_id) VALUES (?, ?, ?, ?);

-- name: Play :one
SELECT plays.id, plays.person_id, plays.session, coalesce(people.name, '') AS person, plays.game, plays.options, plays.seat, plays.state, plays.broken,
  plays.commitment, plays.began, plays.ended
FROM plays LEFT JOIN people ON people.id = plays.person_id WHERE plays.id = ?;

-- name: PlaySeats :many
SELECT play_seats.seat, play_seats.version_id, play_seats.bot_id, bots.name, versions.number FROM play_seats
JOIN bots ON bots.id = play_seats.bot_id JOIN versions ON versions.id = play_seats.version_id
WHERE play_seats.play_id = ? ORDER BY play_seats.seat;

-- name: PlayReplay :one
SELECT replay FROM plays WHERE id = ? AND state = 'finished';

-- name: CountPlaysSince :one
SELECT count(*) FROM plays WHERE person_id = ? AND began >= ?;

-- name: CountGuestPlays :one
SELECT count(*) FROM guest_plays WHERE address = ? AND began >= ?;

-- name: AddGuestPlay :exec
INSERT INTO guest_plays (address, began) VALUES (?, ?);

-- name: GivePlay :execrows
UPDATE plays SET person_id = ? WHERE id = ? AND state = 'open' AND person_id IS NULL;

-- name: ForgetGuestPlay :exec
-- A game is counted no longer as one from an address.
DELETE FROM guest_plays WHERE rowid = (
  SELECT g.rowid FROM plays JOIN guest_plays AS g ON g.address = sqlc.arg(address) AND g.began = plays.began WHERE plays.id = sqlc.arg(id) LIMIT 1);

-- name: DeleteGuestPlays :exec
-- Those that count no more.
DELETE FROM guest_plays WHERE began < ?;

-- name: FinishPlay :execrows
UPDATE plays SET state = 'finished', ended = ?, result = ?, size = ?, replay = ? WHERE id = ? AND state = 'open';

-- name: ScorePlaySeat :exec
UPDATE play_seats SET wins = ?, draws = ?, losses = ?, ended = ? WHERE play_id = ? AND seat = ?;

-- name: BreakPlay :execrows
UPDATE plays SET state = 'broken', broken = ?, ended = ? WHERE id = ? AND state = 'open';

-- name: BreakPlays :execrows
UPDATE plays SET state = 'broken', broken = ?, ended = ? WHERE state = 'open';

-- name: RecordAgainstPeople :one
SELECT CAST(coalesce(sum(wins), 0) AS INTEGER) AS wins, CAST(coalesce(sum(draws), 0) AS INTEGER) AS draws,
  CAST(coalesce(sum(losses), 0) AS INTEGER) AS losses
FROM play_seats WHERE bot_id = ?;

-- name: PlaysOf :many
-- The last games of a person.
SELECT id, game, seat, state, coalesce(result, '') AS result, began, ended FROM plays WHERE person_id = ? ORDER BY began DESC LIMIT ?;

-- name: PlaysAgainst :many
-- The last games that count in a bot's record against people.
SELECT play_seats.play_id, play_seats.seat, play_seats.ended, play_seats.wins, play_seats.draws, play_seats.losses, plays.game,
  coalesce(people.name, '') AS person
FROM play_seats JOIN plays ON plays.id = play_seats.play_id LEFT JOIN people ON people.id = plays.person_id
WHERE play_seats.bot_id = ? AND play_seats.ended IS NOT NULL ORDER BY play_seats.ended DESC LIMIT ?;

-- name: LiveVersions :many
-- The live versions of bots that are not withdrawn and whose owners are not blocked.
SELECT version_rows.* FROM version_rows CROSS JOIN bots ON bots.id = version_rows.bot_id LEFT JOIN people ON people.id = bots.person_id
WHERE version_rows.state = 'live' AND bots.withdrawn IS NULL AND people.blocked IS NULL
ORDER BY version_rows.bot_id LIMIT ?;

-- name: LiveVersionOf :one
SELECT version_rows.* FROM bots CROSS JOIN version_rows ON version_rows.bot_id = bots.id LEFT JOIN people ON people.id = bots.person_id
WHERE bots.name = ? AND version_rows.state = 'live' AND bots.withdrawn IS NULL AND people.blocked IS NULL;
