-- name: AddBot :one
INSERT INTO bots (person_id, name, created) VALUES (?, ?, ?) RETURNING *;

-- name: Bot :one
SELECT * FROM bots WHERE id = ?;

-- name: BotByName :one
SELECT * FROM bots WHERE name = ?;

-- name: CountBots :one
-- Bots that have only versions that failed or were cancelled do not count.
SELECT count(*) FROM bots WHERE person_id = ?
  AND EXISTS (SELECT 1 FROM versions WHERE versions.bot_id = bots.id AND versions.state NOT IN ('failed', 'cancelled'));

-- name: CountKept :one
-- The number of versions of a bot that have neither failed nor been cancelled, and when its last version was added.
SELECT count(*) FILTER (WHERE state NOT IN ('failed', 'cancelled')) AS kept, CAST(coalesce(max(created), 0) AS INTEGER) AS newest
FROM versions WHERE bot_id = ?;

-- name: SetWithdrawn :exec
UPDATE bots SET withdrawn = ? WHERE id = ?;

-- name: SetBanned :exec
UPDATE bots SET banned = ?, ban_reason = ? WHERE id = ?;

-- name: BannedBots :many
SELECT * FROM bots WHERE banned IS NOT NULL ORDER BY banned DESC LIMIT ?;

-- name: ForgetMessages :exec
UPDATE messages SET version_id = NULL WHERE version_id IN (SELECT versions.id FROM versions WHERE versions.bot_id = ?);

-- name: ForgetStages :exec
DELETE FROM stages WHERE version_id IN (SELECT versions.id FROM versions WHERE versions.bot_id = ?);

-- name: ForgetVersions :exec
DELETE FROM versions WHERE bot_id = ?;

-- name: ForgetBot :exec
DELETE FROM bots WHERE id = ?;

-- name: BotsAfter :many
SELECT * FROM bots WHERE id > sqlc.arg(after)
  AND (CAST(sqlc.arg(house) AS INTEGER) < 0 OR (person_id IS NULL) = CAST(sqlc.arg(house) AS INTEGER)) ORDER BY id LIMIT sqlc.arg(n);

-- name: BotsOfAfter :many
SELECT * FROM bots WHERE person_id = ? AND id > ? ORDER BY id LIMIT ?;

-- name: HouseBots :many
SELECT * FROM bots WHERE person_id IS NULL ORDER BY id;

-- name: AddVersion :one
INSERT INTO versions (bot_id, number, label, bundle, hash, language, games, command, state, reason, created, remote)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?) RETURNING id;

-- name: LastNumber :one
SELECT CAST(coalesce(max(number), 0) AS INTEGER) FROM versions WHERE bot_id = ?;

-- name: CountVersionsSince :one
SELECT count(*), CAST(coalesce(min(versions.created), 0) AS INTEGER) AS oldest
FROM bots JOIN versions ON versions.bot_id = bots.id WHERE bots.person_id = ? AND versions.created > ?;

-- name: CountMadeSince :one
SELECT count(*), CAST(coalesce(min(created), 0) AS INTEGER) AS oldest FROM bots WHERE made_by = ? AND created > ?;

-- name: CountMade :one
SELECT count(*) FROM bots WHERE made_by IS NOT NULL;

-- name: SetMaker :exec
UPDATE bots SET made_by = ? WHERE id = ?;

-- name: VersionByID :one
SELECT * FROM version_rows WHERE id = ?;

-- name: LastInState :many
-- The versions in a state that were last to get into it.
SELECT * FROM version_rows WHERE state = ? AND ended IS NOT NULL ORDER BY ended DESC LIMIT ?;

-- name: LastVersions :many
-- The last version of each of the given bots; bots is a JSON list of IDs.
SELECT version_rows.* FROM json_each(CAST(sqlc.arg(bots) AS TEXT)) AS wanted
CROSS JOIN version_rows ON version_rows.bot_id = wanted.value
  AND version_rows.number = (SELECT max(v.number) FROM versions AS v WHERE v.bot_id = wanted.value);

-- name: VersionsIn :many
SELECT * FROM version_rows WHERE state = ? ORDER BY id;

-- name: PendingVersions :many
SELECT sqlc.embed(version_rows), people.served,
  EXISTS (SELECT 1 FROM stages WHERE stages.version_id = version_rows.id) AS begun
FROM version_rows JOIN people ON people.id = version_rows.person_id
WHERE version_rows.state IN ('queued', 'building', 'checking', 'trial') AND people.blocked IS NULL ORDER BY version_rows.id;

-- name: VersionByNumber :one
SELECT * FROM version_rows WHERE bot_id = ? AND number = ?;

-- name: RetiredSince :one
-- The version of a bot that was retired at a given time.
SELECT id FROM versions WHERE bot_id = ? AND +state = 'retired' AND ended = ?;

-- name: LiveVersion :one
SELECT * FROM version_rows WHERE bot_id = ? AND state = 'live';

-- name: RepeatedVersion :one
-- The pending version of a person's bot that has the given upload.
SELECT * FROM version_rows WHERE name = ? AND person_id = ? AND bundle = ? AND state IN ('queued', 'building', 'checking', 'trial');

-- name: OpenVersion :one
SELECT number FROM versions WHERE bot_id = ? AND state IN ('queued', 'building', 'checking', 'trial');

-- name: SetState :exec
UPDATE versions SET state = ?, reason = ?, began = ?, ended = ? WHERE id = ?;

-- name: SetBuilt :exec
UPDATE versions SET label = ?, hash = ?, language = ?, games = ?, command = ?, needs = ?, training = ? WHERE id = ?;

-- name: SetNeeds :exec
UPDATE versions SET needs = ? WHERE hash = ?;

-- name: CountBundle :one
-- The number of versions that need an upload. A version that failed before it was built needs none.
SELECT count(*) FROM versions WHERE bundle = ? AND NOT (state IN ('failed', 'cancelled') AND hash = '');

-- name: Bundles :many
SELECT DISTINCT bundle FROM versions WHERE bundle > '' AND NOT (state IN ('failed', 'cancelled') AND hash = '') ORDER BY bundle;

-- name: NeededBuilds :many
-- The hashes of live and pending versions, and of versions in waiting or running matches and in open games of people.
SELECT hash FROM versions WHERE state IN ('queued', 'building', 'checking', 'trial', 'live') AND hash > ''
UNION
SELECT versions.hash FROM matches JOIN match_slots ON match_slots.match_id = matches.id JOIN versions ON versions.id = match_slots.version_id
WHERE matches.state IN ('waiting', 'running') AND versions.hash > ''
UNION
SELECT versions.hash FROM plays JOIN play_seats ON play_seats.play_id = plays.id JOIN versions ON versions.id = play_seats.version_id
WHERE plays.state = 'open' AND versions.hash > ''
ORDER BY hash;

-- name: BeginStage :exec
INSERT INTO stages (version_id, name, ok, began, summary, log) VALUES (?, ?, 0, ?, '', x'')
ON CONFLICT (version_id, name) DO UPDATE SET ok = 0, began = excluded.began, ended = NULL, summary = '', log = x'';

-- name: EndStage :execrows
UPDATE stages SET ok = ?, ended = ?, summary = ?, log = ? WHERE version_id = ? AND name = ?;

-- name: Stages :many
SELECT * FROM stages WHERE version_id = ? ORDER BY began, rowid;

-- name: DropStages :exec
DELETE FROM stages WHERE version_id = ?;

-- name: OpenVersionsOf :many
-- The pending versions of a person; unless those in the queue are wanted too, only those of which a stage has started.
SELECT versions.id FROM versions JOIN bots ON bots.id = versions.bot_id
WHERE bots.person_id = sqlc.arg(person_id) AND versions.state IN ('queued', 'building', 'checking', 'trial')
  AND (CAST(sqlc.arg(queued) AS INTEGER) = 1 OR EXISTS (SELECT 1 FROM stages WHERE stages.version_id = versions.id)) ORDER BY versions.id;

-- name: SetUnplayable :exec
UPDATE versions SET unplayable = ? WHERE id = ?;
