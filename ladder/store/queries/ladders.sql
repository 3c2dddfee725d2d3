-- name: Ladders :many
SELECT * FROM ladders ORDER BY active DESC, position, id;

-- name: LadderByName :one
SELECT * FROM ladders WHERE name = ?;

-- name: LadderByID :one
SELECT * FROM ladders WHERE id = ?;

-- name: AddLadder :one
INSERT INTO ladders (name, title, game, options, clock, deals, slots, house, position, active)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) RETURNING *;

-- name: UpdateLadder :exec
UPDATE ladders SET title = ?, game = ?, options = ?, clock = ?, deals = ?, slots = ?, house = ?, position = ?, active = 1 WHERE id = ?;

-- name: RetireLadder :exec
UPDATE ladders SET active = 0 WHERE id = ?;

-- name: PauseLadder :exec
UPDATE ladders SET paused = ? WHERE id = ?;

-- name: PausedLadders :many
SELECT name FROM ladders WHERE paused IS NOT NULL ORDER BY name;

-- name: CountMatches :one
SELECT count(*) FROM matches WHERE ladder_id = ?;

-- name: SetFinished :exec
UPDATE ladders SET finished = ? WHERE id = ?;

-- name: AddEntry :exec
INSERT INTO entries (ladder_id, version_id, predecessor, since, start, elo, uncertainty, held, active, last)
VALUES (sqlc.arg(ladder_id), sqlc.arg(version_id), sqlc.arg(predecessor), sqlc.arg(since), sqlc.arg(start), sqlc.arg(start),
  sqlc.arg(uncertainty), sqlc.arg(held), 1, sqlc.arg(since));

-- name: Entry :one
SELECT * FROM entries WHERE ladder_id = ? AND version_id = ?;

-- name: LastEntryOfBot :one
-- The join starts with the bot, which has few versions, and not with the ladder.
SELECT entries.version_id, entries.elo FROM versions CROSS JOIN entries ON entries.version_id = versions.id
WHERE versions.bot_id = ? AND entries.ladder_id = ? ORDER BY versions.began DESC, versions.number DESC LIMIT 1;

-- name: UpdateActive :exec
UPDATE entries SET active = NOT active
WHERE active <> (SELECT due FROM dues WHERE dues.ladder_id = entries.ladder_id AND dues.version_id = entries.version_id);

-- name: UpdateActiveOfBot :exec
UPDATE entries SET active = NOT active WHERE version_id IN (SELECT v.id FROM versions AS v WHERE v.bot_id = ?)
  AND active <> (SELECT due FROM dues WHERE dues.ladder_id = entries.ladder_id AND dues.version_id = entries.version_id);

-- name: Members :many
-- The active versions of a ladder.
SELECT * FROM standing_rows WHERE ladder_id = ? AND active = 1 ORDER BY version_id;

-- name: MembersOfBot :many
-- The active versions of a bot on all ladders.
SELECT * FROM standing_rows WHERE bot_id = ? AND active = 1 ORDER BY ladder_id, version_id;

-- name: OpenOnLadder :many
-- The slots of unfinished matches of a ladder.
SELECT matches.id, match_slots.slot, match_slots.version_id
FROM matches JOIN match_slots ON match_slots.match_id = matches.id
WHERE matches.ladder_id = ? AND matches.state IN ('waiting', 'running');

-- name: Met :many
-- The opponents of a version on a ladder, with the number of matches against each.
SELECT above.b AS other, above.matches FROM pairs AS above WHERE above.ladder_id = sqlc.arg(ladder_id) AND above.a = sqlc.arg(version_id)
UNION ALL SELECT below.a, below.matches FROM pairs AS below WHERE below.ladder_id = sqlc.arg(ladder_id) AND below.b = sqlc.arg(version_id);

-- name: PastStandings :many
SELECT * FROM standing_rows WHERE ladder_id = ? AND active = 0;

-- name: EntriesOfBot :many
SELECT standing_rows.* FROM standing_rows JOIN ladders ON ladders.id = standing_rows.ladder_id
WHERE standing_rows.bot_id = ?
ORDER BY ladders.active DESC, ladders.position, ladders.id, standing_rows.number DESC;

-- name: PairsOf :many
SELECT a, b, deals, score, squares FROM pairs WHERE ladder_id = ?;

-- name: SetFit :one
-- It returns the number of other versions that the version has met.
UPDATE entries SET fit = ?, plus_minus = ?, opponents = (
  (SELECT count(*) FROM pairs AS above WHERE above.ladder_id = entries.ladder_id AND above.a = entries.version_id) +
  (SELECT count(*) FROM pairs AS below WHERE below.ladder_id = entries.ladder_id AND below.b = entries.version_id))
WHERE entries.ladder_id = ? AND entries.version_id = ? RETURNING opponents;

-- name: MoveEntry :exec
UPDATE entries SET elo = ?, uncertainty = ?, last = ?, last_at = ?, matches = ?, games = ?, wins = ?, draws = ?, losses = ?, faults = ?
WHERE ladder_id = ? AND version_id = ?;

-- name: AddPair :exec
INSERT INTO pairs (ladder_id, a, b, matches, deals, score, squares, wins, draws, losses) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ladder_id, a, b) DO UPDATE SET matches = matches + 1, deals = deals + excluded.deals,
  score = score + excluded.score, squares = squares + excluded.squares,
  wins = wins + excluded.wins, draws = draws + excluded.draws, losses = losses + excluded.losses;

-- name: AddChange :exec
INSERT INTO changes (match_id, slot, ladder_id, version_id, number, elo_before, elo_after, k, score, expected, uncertainty)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: History :many
-- The changes by every step-th match of a version on a ladder. phase is chosen such that they include the last one.
SELECT sqlc.embed(changes), coalesce(results.distinct_deals, 0) AS deals
FROM changes JOIN results ON results.match_id = changes.match_id
WHERE changes.ladder_id = sqlc.arg(ladder_id) AND changes.version_id = sqlc.arg(version_id)
  AND changes.number % CAST(sqlc.arg(step) AS INTEGER) = CAST(sqlc.arg(phase) AS INTEGER) ORDER BY changes.number;

-- name: BoutsOf :many
SELECT changes.match_id, changes.slot, changes.version_id, changes.score, coalesce(results.distinct_deals, 0) AS deals
FROM results CROSS JOIN changes ON changes.match_id = results.match_id
WHERE results.ladder_id = ? AND results.ord > sqlc.arg(after) ORDER BY results.ord, changes.slot;

-- name: Formula :one
SELECT fingerprint FROM formula;

-- name: SetFormula :exec
UPDATE formula SET fingerprint = ?;
