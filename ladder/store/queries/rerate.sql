-- name: RerateChange :execrows
UPDATE changes SET elo_before = ?, elo_after = ?, k = ?, score = ?, expected = ?, uncertainty = ?
WHERE match_id = ? AND slot = ? AND version_id = ?;

-- name: RerateEntry :exec
UPDATE entries SET start = ?, elo = ?, uncertainty = ? WHERE ladder_id = ? AND version_id = ?;

-- name: SetFormula :exec
UPDATE ladders SET formula = ? WHERE id = ?;
