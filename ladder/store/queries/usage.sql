-- name: MatchesByGame :many
-- The finished matches of each game: all, and those since two times.
SELECT game, count(*) AS matches, CAST(sum(finished >= CAST(sqlc.arg(day) AS INTEGER)) AS INTEGER) AS day,
  CAST(sum(finished >= CAST(sqlc.arg(week) AS INTEGER)) AS INTEGER) AS week
FROM matches WHERE state = 'finished' GROUP BY game ORDER BY game;

-- name: DocumentsByGame :many
-- The compressed documents of each game in bytes, wherever they are: all, and those of matches since two times.
SELECT matches.game, documents.kind, CAST(sum(documents.size) AS INTEGER) AS unpacked,
  CAST(sum(coalesce(documents.length, length(documents.data))) AS INTEGER) AS bytes,
  CAST(sum(CASE WHEN documents.archive_id IS NULL THEN length(documents.data) ELSE 0 END) AS INTEGER) AS inside,
  CAST(sum(CASE WHEN matches.finished >= CAST(sqlc.arg(day) AS INTEGER) THEN coalesce(documents.length, length(documents.data)) ELSE 0 END) AS INTEGER) AS day,
  CAST(sum(CASE WHEN matches.finished >= CAST(sqlc.arg(week) AS INTEGER) THEN coalesce(documents.length, length(documents.data)) ELSE 0 END) AS INTEGER) AS week
FROM documents JOIN matches ON matches.id = documents.match_id GROUP BY matches.game, documents.kind ORDER BY matches.game, documents.kind;

-- name: GamesByGame :many
SELECT matches.game, count(*) AS games FROM games JOIN matches ON matches.id = games.match_id GROUP BY matches.game ORDER BY matches.game;

-- name: SeatsByGame :many
SELECT matches.game, count(*) AS seats FROM game_seats JOIN games ON games.id = game_seats.game_id
JOIN matches ON matches.id = games.match_id GROUP BY matches.game ORDER BY matches.game;

-- name: FirstMatch :one
SELECT finished FROM matches WHERE state = 'finished' ORDER BY id LIMIT 1;

-- name: UploadsSince :many
-- The uploads that came first at a time or later.
SELECT bundle FROM versions WHERE bundle > '' AND NOT (state = 'failed' AND hash = '') GROUP BY bundle HAVING min(created) >= CAST(sqlc.arg(since) AS INTEGER);
