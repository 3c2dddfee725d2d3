-- name: MatchesByGame :many
-- The finished matches of each game: all, and those since two times.
SELECT settings.game, count(*) AS matches, CAST(sum(results.games) AS INTEGER) AS games, CAST(sum(matches.finished >= CAST(sqlc.arg(day) AS INTEGER)) AS INTEGER) AS day,
  CAST(sum(matches.finished >= CAST(sqlc.arg(week) AS INTEGER)) AS INTEGER) AS week
FROM results CROSS JOIN matches ON matches.id = results.match_id CROSS JOIN settings ON settings.id = matches.settings_id
GROUP BY settings.game ORDER BY settings.game;

-- name: DocumentsByGame :many
-- The compressed documents of each game in bytes, wherever they are: all, and those of matches since two times.
SELECT settings.game, documents.kind, CAST(sum(documents.size) AS INTEGER) AS unpacked,
  CAST(sum(coalesce(documents.length, length(documents.data))) AS INTEGER) AS bytes,
  CAST(sum(CASE WHEN documents.archive_id IS NULL THEN length(documents.data) ELSE 0 END) AS INTEGER) AS inside,
  CAST(sum(CASE WHEN matches.finished >= CAST(sqlc.arg(day) AS INTEGER) THEN coalesce(documents.length, length(documents.data)) ELSE 0 END) AS INTEGER) AS day,
  CAST(sum(CASE WHEN matches.finished >= CAST(sqlc.arg(week) AS INTEGER) THEN coalesce(documents.length, length(documents.data)) ELSE 0 END) AS INTEGER) AS week
FROM documents CROSS JOIN matches ON matches.id = documents.match_id CROSS JOIN settings ON settings.id = matches.settings_id
GROUP BY settings.game, documents.kind ORDER BY settings.game, documents.kind;

-- name: FirstMatch :one
SELECT finished FROM matches WHERE state = 'finished' ORDER BY id LIMIT 1;

-- name: UploadsSince :many
-- The uploads that came first at a time or later.
SELECT bundle FROM versions WHERE bundle > '' AND NOT (state = 'failed' AND hash = '') GROUP BY bundle HAVING min(created) >= CAST(sqlc.arg(since) AS INTEGER);
