-- name: AddResult :exec
INSERT INTO results (match_id, ladder_id, ord, distinct_deals, games, took, data) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: MarkFaulty :exec
UPDATE match_slots SET faulty = 1 WHERE match_id = ? AND slot = ?;

-- name: FirstPlayed :one
-- The order of the first match of a ladder with a game of the given fingerprint.
SELECT ord FROM fingerprints WHERE ladder_id = ? AND fingerprint = ?;

-- name: AddFingerprint :exec
INSERT INTO fingerprints (ladder_id, fingerprint, ord) VALUES (?, ?, ?);

-- name: Result :one
SELECT * FROM result_rows WHERE id = ?;

-- name: ResultOf :one
SELECT * FROM result_rows WHERE match_id = ?;

-- name: ResultsFrom :many
SELECT * FROM result_rows WHERE id >= ? ORDER BY id LIMIT ?;

-- name: ResultsOnLadder :many
SELECT * FROM result_rows WHERE ladder_id = ? AND id >= ? ORDER BY id LIMIT ?;

-- name: ResultsOfBot :many
-- The IDs of the results of a bot, beginning with a given ID.
SELECT results.id FROM match_slots JOIN results ON results.match_id = match_slots.match_id
WHERE match_slots.bot_id = sqlc.arg(bot_id) AND results.id >= sqlc.arg(first)
  AND (CAST(sqlc.narg(ladder_id) AS INTEGER) IS NULL OR results.ladder_id = CAST(sqlc.narg(ladder_id) AS INTEGER))
GROUP BY results.id ORDER BY results.id;
