-- name: SetSession :one
-- Adds a session, or replaces the session of a guest by one with a new key.
INSERT OR REPLACE INTO sessions (id, public, hash, person_id, token_id, created, used, expires)
VALUES (sqlc.narg(id), sqlc.arg(public), sqlc.arg(hash), sqlc.arg(person_id), sqlc.arg(token_id), sqlc.arg(now), sqlc.arg(now), sqlc.arg(expires)) RETURNING id;

-- name: SessionByPublic :one
SELECT * FROM sessions WHERE public = ?;

-- name: Session :one
SELECT * FROM sessions WHERE id = ?;

-- name: UseSession :exec
UPDATE sessions SET used = sqlc.arg(now) WHERE id = sqlc.arg(id) AND used < sqlc.arg(now);

-- name: SessionsOf :many
SELECT * FROM sessions WHERE person_id = ? AND expires > ? ORDER BY used DESC;

-- name: EndSession :execrows
DELETE FROM sessions WHERE id = ? AND person_id = ?;

-- name: EndSessionsOf :exec
-- Ends all sessions of a person except one.
DELETE FROM sessions WHERE person_id = sqlc.arg(person_id) AND id <> sqlc.arg(but);

-- name: EndSessionsBy :exec
-- Ends the sessions that were started with a token.
DELETE FROM sessions WHERE token_id = ?;

-- name: ExpireSessions :exec
DELETE FROM sessions WHERE expires <= ?;

-- name: LimitSessions :execrows
-- Ends all sessions of a person, or with NULL of all guests, except the most recently used ones.
DELETE FROM sessions WHERE id IN (SELECT s.id FROM sessions s WHERE s.person_id IS sqlc.narg(person_id) ORDER BY s.used DESC, s.id DESC LIMIT -1 OFFSET sqlc.arg(most));

-- name: Token :one
SELECT sqlc.embed(tokens), sqlc.embed(people) FROM tokens JOIN people ON people.id = tokens.person_id WHERE tokens.id = ?;

-- name: AddPasskey :exec
INSERT INTO passkeys (token_id, credential, data) VALUES (?, ?, ?);

-- name: SetPasskey :exec
UPDATE passkeys SET data = ? WHERE token_id = ?;

-- name: Passkey :one
SELECT sqlc.embed(passkeys), sqlc.embed(tokens), sqlc.embed(people) FROM passkeys
JOIN tokens ON tokens.id = passkeys.token_id JOIN people ON people.id = tokens.person_id WHERE passkeys.credential = ?;

-- name: PasskeysOf :many
-- The valid passkeys of a person.
SELECT passkeys.* FROM tokens JOIN passkeys ON passkeys.token_id = tokens.id WHERE tokens.person_id = ? AND tokens.revoked IS NULL;
