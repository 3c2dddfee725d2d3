-- name: AddMatch :one
INSERT INTO matches (ladder_id, settings_id, state, asked_by, reason, created) VALUES (?, ?, 'waiting', ?, '', ?) RETURNING id;

-- name: SettingsID :one
SELECT id FROM settings WHERE game = ? AND options = ? AND clock = ? AND deals = ?;

-- name: AddSettings :one
INSERT INTO settings (game, options, clock, deals) VALUES (?, ?, ?, ?) RETURNING id;

-- name: AddSlot :exec
INSERT INTO match_slots (match_id, slot, version_id, bot_id) VALUES (?, ?, ?, ?);

-- name: Match :one
SELECT * FROM match_rows WHERE id = ?;

-- name: MatchesBefore :many
SELECT * FROM match_rows WHERE id < ? ORDER BY id DESC LIMIT ?;

-- name: MatchesIn :many
SELECT * FROM match_rows WHERE state = ? AND id < ? ORDER BY id DESC LIMIT ?;

-- name: MatchesOnLadder :many
SELECT * FROM match_rows WHERE ladder_id IS ? AND id < ? ORDER BY id DESC LIMIT ?;

-- name: MatchesOnLadderIn :many
SELECT * FROM match_rows WHERE ladder_id IS ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ?;

-- name: MatchesOfBot :many
SELECT match_rows.* FROM match_slots JOIN match_rows ON match_rows.id = match_slots.match_id
WHERE match_slots.bot_id = sqlc.arg(bot_id) AND match_slots.match_id < sqlc.arg(before)
  AND (CAST(sqlc.narg(ladder_id) AS INTEGER) IS NULL OR match_rows.ladder_id = CAST(sqlc.narg(ladder_id) AS INTEGER))
  AND (CAST(sqlc.arg(state) AS TEXT) = '' OR match_rows.state = CAST(sqlc.arg(state) AS TEXT))
GROUP BY match_slots.match_id ORDER BY match_slots.match_id DESC LIMIT sqlc.arg(n);

-- name: MatchesOfVersion :many
SELECT match_rows.* FROM match_slots JOIN match_rows ON match_rows.id = match_slots.match_id
WHERE match_slots.version_id = sqlc.arg(version_id) AND match_slots.match_id < sqlc.arg(before)
  AND (CAST(sqlc.narg(ladder_id) AS INTEGER) IS NULL OR match_rows.ladder_id = CAST(sqlc.narg(ladder_id) AS INTEGER))
  AND (CAST(sqlc.arg(state) AS TEXT) = '' OR match_rows.state = CAST(sqlc.arg(state) AS TEXT))
ORDER BY match_slots.match_id DESC LIMIT sqlc.arg(n);

-- name: MatchesOfIn :many
-- The matches of a bot or a version in a given state. It reads all matches in that state, so these must be few.
SELECT * FROM match_rows WHERE state = ? AND id < sqlc.arg(before)
  AND (CAST(sqlc.narg(ladder_id) AS INTEGER) IS NULL OR ladder_id = CAST(sqlc.narg(ladder_id) AS INTEGER))
  AND EXISTS (SELECT 1 FROM match_slots WHERE match_slots.match_id = match_rows.id
    AND (match_slots.bot_id = sqlc.arg(bot_id) OR match_slots.version_id = sqlc.arg(version_id)))
ORDER BY id DESC LIMIT sqlc.arg(n);

-- name: MatchesOfPair :many
SELECT match_rows.* FROM match_slots AS own CROSS JOIN match_slots AS other ON other.match_id = own.match_id CROSS JOIN match_rows ON match_rows.id = own.match_id
WHERE own.version_id = sqlc.arg(version_id) AND other.version_id = sqlc.arg(against) AND own.match_id < sqlc.arg(before)
  AND match_rows.ladder_id = sqlc.arg(ladder_id)
ORDER BY own.match_id DESC LIMIT sqlc.arg(n);

-- name: WaitingMatches :many
-- Matches that nobody requested come first.
SELECT * FROM match_rows WHERE state = 'waiting' ORDER BY asked_by IS NOT NULL, id LIMIT ?;

-- name: AskedQueue :many
-- The waiting matches that people requested, with the last time at which a match of the same person began.
SELECT matches.id, matches.asked_by, CAST(coalesce((SELECT max(own.began) FROM matches AS own WHERE own.asked_by = matches.asked_by), 0) AS INTEGER) AS served
FROM matches WHERE matches.state = 'waiting' AND matches.asked_by IS NOT NULL ORDER BY matches.id;

-- name: CountAsked :one
SELECT count(*) FROM matches WHERE asked_by = ? AND state IN ('waiting', 'running');

-- name: SlotsOf :many
SELECT match_slots.match_id, match_slots.slot, match_slots.version_id, bots.name, versions.number, versions.remote
FROM match_slots JOIN versions ON versions.id = match_slots.version_id JOIN bots ON bots.id = match_slots.bot_id
WHERE match_slots.match_id IN (SELECT value FROM json_each(CAST(sqlc.arg(matches) AS TEXT))) ORDER BY match_slots.match_id, match_slots.slot;

-- name: ChangesOf :many
SELECT * FROM changes WHERE match_id IN (SELECT value FROM json_each(CAST(sqlc.arg(matches) AS TEXT))) ORDER BY match_id, slot;

-- name: AttemptsOf :many
SELECT * FROM attempts WHERE match_id IN (SELECT value FROM json_each(CAST(sqlc.arg(matches) AS TEXT))) ORDER BY match_id, number;

-- name: AddAttempt :exec
INSERT INTO attempts (match_id, number, machine, seed, began, reason, failed) VALUES (?, ?, ?, ?, ?, '', 0);

-- name: RunningAttempts :many
SELECT attempts.match_id, attempts.number, attempts.machine
FROM matches JOIN attempts ON attempts.match_id = matches.id
WHERE matches.state = 'running' AND attempts.ended IS NULL ORDER BY matches.id;

-- name: LastAttempt :one
SELECT * FROM attempts WHERE match_id = ? ORDER BY number DESC LIMIT 1;

-- name: EndAttempt :exec
UPDATE attempts SET ended = ?, reason = ?, failed = ? WHERE match_id = ? AND number = ?;

-- name: CountFailed :one
SELECT count(*) FROM attempts WHERE match_id = ? AND failed = 1;

-- name: BeginMatch :exec
UPDATE matches SET state = 'running', began = coalesce(began, ?) WHERE id = ?;

-- name: WaitAgain :exec
UPDATE matches SET state = 'waiting' WHERE id = ?;

-- name: DropMatch :exec
UPDATE matches SET state = 'dropped', reason = ?, finished = ? WHERE id = ?;

-- name: FinishMatch :exec
UPDATE matches SET state = 'finished', finished = ?, reason = ?, result_id = (SELECT results.id FROM results WHERE results.match_id = matches.id)
WHERE matches.id = ?;

-- name: IdleWaiting :many
-- Waiting matches that cannot be played: rated ones with a version that is no longer active on the ladder, and others
-- with a withdrawn bot or with a remote version that is not live.
SELECT matches.id, matches.ladder_id, bots.name, bots.person_id, bots.withdrawn, bots.banned, versions.number
FROM matches
JOIN match_slots ON match_slots.match_id = matches.id
JOIN versions ON versions.id = match_slots.version_id
JOIN bots ON bots.id = match_slots.bot_id
LEFT JOIN entries ON entries.ladder_id = matches.ladder_id AND entries.version_id = match_slots.version_id
WHERE matches.state = 'waiting' AND (entries.active = 0
  OR matches.ladder_id IS NULL AND (bots.withdrawn IS NOT NULL OR versions.remote = 1 AND versions.state <> 'live'))
ORDER BY matches.id, match_slots.slot;

-- name: OpenOfPerson :many
-- Unfinished matches that a person requested or in which a bot of the person plays.
SELECT * FROM match_rows WHERE state IN ('waiting', 'running') AND (
  asked_by = CAST(sqlc.arg(person_id) AS INTEGER) OR EXISTS (
    SELECT 1 FROM match_slots JOIN bots ON bots.id = match_slots.bot_id
    WHERE match_slots.match_id = match_rows.id AND bots.person_id = CAST(sqlc.arg(person_id) AS INTEGER)
  )
) ORDER BY id;
