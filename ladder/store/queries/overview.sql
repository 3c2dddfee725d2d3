-- Queries of pages that show a competition at a glance. Each reads a bounded number of rows.

-- name: TopStandings :many
SELECT * FROM standing_rows WHERE ladder_id = ? AND active = 1
ORDER BY settled DESC, coalesce(fit, elo) DESC, version_id DESC LIMIT ?;

-- name: CountActive :one
SELECT count(*) FROM entries WHERE ladder_id = ? AND active = 1;

-- name: TrendPoints :many
-- Ratings of versions after their matches with certain numbers; wanted is a JSON list of
-- [version, number].
SELECT changes.version_id, changes.number, changes.elo_after
FROM json_each(CAST(sqlc.arg(wanted) AS TEXT)) AS want
CROSS JOIN changes ON changes.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER)
  AND changes.version_id = json_extract(want.value, '$[0]') AND changes.number = json_extract(want.value, '$[1]');

-- name: PairOf :one
SELECT * FROM pairs WHERE ladder_id = ? AND a = ? AND b = ?;

-- name: PairsAmong :many
-- The counts of versions with each other; versions is a JSON list of IDs.
SELECT pairs.a, pairs.b, pairs.matches, pairs.deals, pairs.score
FROM json_each(CAST(sqlc.arg(versions) AS TEXT)) AS x
CROSS JOIN json_each(CAST(sqlc.arg(versions) AS TEXT)) AS y
CROSS JOIN pairs ON pairs.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER) AND pairs.a = x.value AND pairs.b = y.value;
