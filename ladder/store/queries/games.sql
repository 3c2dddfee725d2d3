-- name: AddGame :one
INSERT INTO games (match_id, ladder_id, deal, rotation, plies, took, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id;

-- name: AddSeat :exec
INSERT INTO game_seats (game_id, seat, slot, rank, points, fault, faults) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: MarkFaulty :exec
UPDATE match_slots SET faulty = 1 WHERE match_id = ? AND slot = ?;

-- name: AddReplay :exec
INSERT INTO replays (game_id, size, data) VALUES (?, ?, ?);

-- name: AddLog :exec
INSERT INTO game_logs (game_id, seat, size, data) VALUES (?, ?, ?, ?);

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

-- name: Replay :one
SELECT * FROM replays WHERE game_id = ?;

-- name: Log :one
SELECT * FROM game_logs WHERE game_id = ? AND seat = ?;

-- name: ReplaysAfter :many
SELECT games.id, games.match_id, coalesce(ladders.name, '') AS ladder, replays.size, replays.data
FROM games JOIN replays ON replays.game_id = games.id LEFT JOIN ladders ON ladders.id = games.ladder_id
WHERE games.id > ? ORDER BY games.id LIMIT ?;

-- name: ReplaysOnLadderAfter :many
SELECT games.id, games.match_id, ladders.name AS ladder, replays.size, replays.data
FROM games JOIN replays ON replays.game_id = games.id JOIN ladders ON ladders.id = games.ladder_id
WHERE games.ladder_id = ? AND games.id > ? ORDER BY games.id LIMIT ?;

-- name: PlayedByBot :many
-- The matches of a bot that have games after a game, in the order of their games.
SELECT games.match_id, CAST(min(games.id) AS INTEGER) AS first_game
FROM match_slots JOIN games ON games.match_id = match_slots.match_id
WHERE match_slots.bot_id = sqlc.arg(bot_id) AND games.id > sqlc.arg(cursor)
  AND (sqlc.narg(ladder_id) IS NULL OR games.ladder_id = sqlc.narg(ladder_id))
GROUP BY games.match_id ORDER BY first_game;

-- name: ReplaysOfMatch :many
SELECT games.id, games.match_id, coalesce(ladders.name, '') AS ladder, replays.size, replays.data
FROM games JOIN replays ON replays.game_id = games.id LEFT JOIN ladders ON ladders.id = games.ladder_id
WHERE games.match_id = ? ORDER BY games.id;
