-- name: AddPlay :exec
INSERT INTO plays (id, game, options, opener, bank, state, commitment, began) VALUES (?, ?, ?, ?, ?, 'open', ?, ?);

-- name: AddPlaySeat :exec
INSERT INTO play_seats (play_id, seat, version_id, bot_id, person_id, session, sat) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: Play :one
SELECT id, game, options, opener, bank, state, broken, commitment, began, ended FROM plays WHERE id = ?;

-- name: PlaySeats :many
SELECT sqlc.embed(play_seats), coalesce(bots.name, '') AS bot, coalesce(versions.number, 0) AS number, coalesce(people.name, '') AS person FROM play_seats
LEFT JOIN bots ON bots.id = play_seats.bot_id LEFT JOIN versions ON versions.id = play_seats.version_id
LEFT JOIN people ON people.id = play_seats.person_id
WHERE play_seats.play_id = ? ORDER BY play_seats.seat;

-- name: PlayReplay :one
SELECT replay FROM plays WHERE id = ? AND state = 'finished';

-- name: FinishedPlaysOf :many
-- The finished games of a person, with their replays.
SELECT plays.id, plays.replay, play_seats.seat FROM play_seats JOIN plays ON plays.id = play_seats.play_id
WHERE play_seats.person_id = ? AND plays.state = 'finished';

-- name: SetPlayReplay :exec
UPDATE plays SET replay = ? WHERE id = ?;

-- name: CountPlaysSince :one
SELECT count(*) FROM play_seats WHERE person_id = ? AND sat >= ?;

-- name: CountGuestPlays :one
SELECT count(*) FROM guest_plays WHERE address = ? AND began >= ?;

-- name: AddGuestPlay :exec
INSERT INTO guest_plays (address, began) VALUES (?, ?);

-- name: GivePlay :execrows
UPDATE play_seats SET person_id = ? WHERE play_id = ? AND seat = ? AND sat IS NOT NULL AND person_id IS NULL
  AND EXISTS (SELECT 1 FROM plays WHERE plays.id = play_seats.play_id AND plays.state = 'open');

-- name: ForgetGuestPlay :exec
-- Removes a game from the count of an address.
DELETE FROM guest_plays WHERE rowid = (
  SELECT g.rowid FROM play_seats JOIN guest_plays AS g ON g.address = sqlc.arg(address) AND g.began = play_seats.sat
  WHERE play_seats.play_id = sqlc.arg(id) AND play_seats.seat = sqlc.arg(seat) LIMIT 1);

-- name: DeleteGuestPlays :exec
-- Removes games that started before a given time from the counts of addresses.
DELETE FROM guest_plays WHERE began < ?;

-- name: FinishPlay :execrows
UPDATE plays SET state = 'finished', ended = ?, replay = ? WHERE id = ? AND state = 'open';

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
-- The last games in which a person sat down before a given time. If only finished ones are wanted, games without a result are omitted.
SELECT plays.id, plays.game, plays.opener, plays.state, plays.began, plays.ended
FROM play_seats JOIN plays ON plays.id = play_seats.play_id
WHERE play_seats.person_id = sqlc.arg(person_id) AND play_seats.sat < sqlc.arg(before)
  AND (CAST(sqlc.arg(finished) AS INTEGER) = 0 OR play_seats.ended IS NOT NULL) ORDER BY play_seats.sat DESC LIMIT sqlc.arg(n);

-- name: PlaysAgainst :many
-- The last games that count in a bot's record against people.
SELECT play_seats.play_id, play_seats.seat, play_seats.ended, play_seats.wins, play_seats.draws, play_seats.losses, plays.game,
  coalesce(people.name, '') AS person
FROM play_seats JOIN plays ON plays.id = play_seats.play_id
LEFT JOIN play_seats AS opener ON opener.play_id = plays.id AND opener.seat = plays.opener LEFT JOIN people ON people.id = opener.person_id
WHERE play_seats.bot_id = ? AND play_seats.ended IS NOT NULL ORDER BY play_seats.ended DESC LIMIT ?;

-- name: PersonRecords :many
-- The results of a person by game and by opponents: other people, with the mean of their ratings, one bot (its ID) or several bots (0).
SELECT game, CAST(people > 0 AS INTEGER) AS people, CAST(CASE WHEN people = 0 AND lowest = highest THEN lowest ELSE 0 END AS INTEGER) AS bot_id,
  CAST(sum(wins) AS INTEGER) AS wins, CAST(sum(draws) AS INTEGER) AS draws, CAST(sum(losses) AS INTEGER) AS losses, CAST(coalesce(avg(rating), 0) AS REAL) AS rating
FROM (
  SELECT plays.game, own.wins, own.draws, own.losses, avg(other.rating_before) AS rating, count(other.sat) AS people, min(other.bot_id) AS lowest, max(other.bot_id) AS highest
  FROM play_seats AS own JOIN plays ON plays.id = own.play_id
  JOIN play_seats AS other ON other.play_id = own.play_id AND other.seat <> own.seat
  WHERE own.person_id = ? AND own.ended IS NOT NULL GROUP BY own.play_id
) GROUP BY 1, 2, 3;

-- name: RatePlay :exec
UPDATE plays SET rated = ? WHERE id = ?;

-- name: RatePlaySeat :exec
UPDATE play_seats SET rating_before = ?, rating_after = ? WHERE play_id = ? AND seat = ?;

-- name: PersonRating :one
SELECT * FROM person_ratings WHERE game = ? AND person_id = ?;

-- name: SetPersonRating :exec
INSERT INTO person_ratings (game, person_id, rating, deviation, volatility, wins, draws, losses) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (game, person_id) DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation, volatility = excluded.volatility,
  wins = excluded.wins, draws = excluded.draws, losses = excluded.losses;

-- name: RatingsOf :many
SELECT * FROM person_ratings WHERE person_id = ? ORDER BY game;

-- name: CountRated :many
-- The number of rated people who are not blocked, by game.
SELECT game, count(*) AS people FROM person_ratings JOIN people ON people.id = person_ratings.person_id
WHERE people.blocked IS NULL GROUP BY game;

-- name: RatedPeople :many
SELECT sqlc.embed(person_ratings), people.name FROM person_ratings CROSS JOIN people ON people.id = person_ratings.person_id
WHERE game = ? AND people.blocked IS NULL ORDER BY provisional, rating DESC, person_id LIMIT ? OFFSET ?;

-- name: LiveVersions :many
-- The live versions of bots that are not withdrawn and whose owners are not blocked, without the house bots that people
-- have made.
SELECT version_rows.* FROM version_rows CROSS JOIN bots ON bots.id = version_rows.bot_id LEFT JOIN people ON people.id = bots.person_id
WHERE version_rows.state = 'live' AND bots.withdrawn IS NULL AND bots.made_by IS NULL AND people.blocked IS NULL
ORDER BY version_rows.bot_id LIMIT ?;

-- name: LiveVersionOf :one
SELECT version_rows.* FROM bots CROSS JOIN version_rows ON version_rows.bot_id = bots.id LEFT JOIN people ON people.id = bots.person_id
WHERE bots.name = ? AND version_rows.state = 'live' AND bots.withdrawn IS NULL AND people.blocked IS NULL;

-- name: LastRated :one
-- The order of the last game that changed ratings of people.
SELECT CAST(coalesce(max(plays.rated), 0) AS INTEGER) AS rated FROM plays;
