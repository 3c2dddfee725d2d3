-- name: LastGameID :one
SELECT CAST(coalesce(max(id), 0) AS INTEGER) FROM games;

-- name: AddGame :exec
INSERT INTO games (id, match_id, ladder_id, deal, rotation, plies, took, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: AddSeat :exec
INSERT INTO game_seats (game_id, seat, slot, rank, points, fault, faults) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: MarkFaulty :exec
UPDATE match_slots SET faulty = 1 WHERE match_id = ? AND slot = ?;

-- name: PlayedBefore :one
-- Whether a game was played on a ladder in the matches before an order.
SELECT EXISTS (SELECT 1 FROM games JOIN matches ON matches.id = games.match_id
  WHERE games.ladder_id = ? AND games.fingerprint = ? AND matches.ord < ?);

-- name: GamesOf :many
SELECT * FROM games WHERE match_id = ? ORDER BY deal, rotation;

-- name: SeatsOfMatch :many
SELECT game_seats.* FROM games JOIN game_seats ON game_seats.game_id = games.id
WHERE games.match_id = ? ORDER BY games.deal, games.rotation, game_seats.seat;

-- name: GamesOfDeals :many
SELECT * FROM games WHERE match_id = ? AND deal >= ? AND deal < ? ORDER BY deal, rotation;

-- name: SeatsOfDeals :many
SELECT game_seats.* FROM games JOIN game_seats ON game_seats.game_id = games.id
WHERE games.match_id = ? AND games.deal >= ? AND games.deal < ? ORDER BY games.deal, games.rotation, game_seats.seat;

-- name: Game :one
SELECT * FROM games WHERE id = ?;

-- name: SeatsOf :many
SELECT * FROM game_seats WHERE game_id = ? ORDER BY seat;

-- name: GamesAfter :many
SELECT games.id, games.match_id, games.deal, games.rotation, coalesce(ladders.name, '') AS ladder
FROM games LEFT JOIN ladders ON ladders.id = games.ladder_id
WHERE games.id > ? ORDER BY games.id LIMIT ?;

-- name: GamesOnLadderAfter :many
SELECT games.id, games.match_id, games.deal, games.rotation, ladders.name AS ladder
FROM games JOIN ladders ON ladders.id = games.ladder_id
WHERE games.ladder_id = ? AND games.id > ? ORDER BY games.id LIMIT ?;

-- name: PlayedByBot :many
-- The matches of a bot that have games after a game, in the order of their games.
SELECT games.match_id, CAST(min(games.id) AS INTEGER) AS first_game
FROM match_slots JOIN games ON games.match_id = match_slots.match_id
WHERE match_slots.bot_id = sqlc.arg(bot_id) AND games.id > sqlc.arg(cursor)
  AND (sqlc.narg(ladder_id) IS NULL OR games.ladder_id = sqlc.narg(ladder_id))
GROUP BY games.match_id ORDER BY first_game;

-- name: GamesOfMatch :many
SELECT games.id, games.match_id, games.deal, games.rotation, coalesce(ladders.name, '') AS ladder
FROM games LEFT JOIN ladders ON ladders.id = games.ladder_id
WHERE games.match_id = ? ORDER BY games.id;
