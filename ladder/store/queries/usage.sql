-- name: UsageByGame :many
-- The finished matches of each game, and the bytes of their documents before and after compression. The age is 0 for
-- matches of the last day, 1 for others of the last week, and 2 for the rest.
SELECT settings.game, CAST((matches.finished < CAST(sqlc.arg(day) AS INTEGER)) + (matches.finished < CAST(sqlc.arg(week) AS INTEGER)) AS INTEGER) AS age,
  count(*) AS matches, CAST(sum(results.games) AS INTEGER) AS games, CAST(min(matches.finished) AS INTEGER) AS earliest,
  CAST(sum(coalesce(replays.length, length(replays.data), 0)) AS INTEGER) AS replays, CAST(sum(coalesce(logs.length, length(logs.data), 0)) AS INTEGER) AS logs,
  CAST(sum(coalesce(length(replays.data), 0) + coalesce(length(logs.data), 0)) AS INTEGER) AS inside,
  CAST(sum(coalesce(replays.size, 0) + coalesce(logs.size, 0)) AS INTEGER) AS unpacked
FROM results CROSS JOIN matches ON matches.id = results.match_id CROSS JOIN settings ON settings.id = matches.settings_id
LEFT JOIN documents AS replays ON replays.match_id = results.match_id AND replays.kind = 'replays'
LEFT JOIN documents AS logs ON logs.match_id = results.match_id AND logs.kind = 'logs'
GROUP BY settings.game, age ORDER BY settings.game, age;

-- name: UploadsSince :many
-- The uploads that were first received at a given time or later.
SELECT bundle FROM versions WHERE bundle > '' AND NOT (state IN ('failed', 'cancelled') AND hash = '') GROUP BY bundle HAVING min(created) >= CAST(sqlc.arg(since) AS INTEGER);
