-- name: AddPerson :one
INSERT INTO people (name, handle, admin, created) VALUES (?, ?, ?, ?) RETURNING *;

-- name: Person :one
SELECT * FROM people WHERE id = ?;

-- name: PersonByHandle :one
SELECT * FROM people WHERE handle = ?;

-- name: People :many
SELECT * FROM people ORDER BY id;

-- name: BlockPerson :exec
UPDATE people SET blocked = ? WHERE id = ?;

-- name: RemovePerson :exec
UPDATE people SET name = sqlc.arg(name), handle = sqlc.arg(name), admin = 0, removed = sqlc.arg(now), blocked = coalesce(blocked, sqlc.arg(now)) WHERE id = sqlc.arg(id);

-- name: CountOtherAdmins :one
-- The number of admins who are not blocked, besides one person.
SELECT count(*) FROM people WHERE admin = 1 AND blocked IS NULL AND id <> sqlc.arg(but);

-- name: AddRemovedName :exec
INSERT INTO removed_names (handle) VALUES (?);

-- name: IsRemovedName :one
SELECT EXISTS (SELECT 1 FROM removed_names WHERE handle = ?) AS known;

-- name: Announcement :one
SELECT text FROM announcement;

-- name: AddAnnouncement :exec
INSERT INTO announcement (text) VALUES (?);

-- name: DeleteAnnouncement :exec
DELETE FROM announcement;

-- name: DeletePasskeysOf :exec
DELETE FROM passkeys WHERE token_id IN (SELECT id FROM tokens WHERE person_id = ?);

-- name: DeleteMessagesOf :exec
DELETE FROM messages WHERE person_id = ?;

-- name: SetServed :exec
UPDATE people SET served = ? WHERE id = ?;

-- name: AddToken :one
INSERT INTO tokens (person_id, public, hash, label, kind, scope, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *;

-- name: TokenByPublic :one
SELECT sqlc.embed(tokens), sqlc.embed(people) FROM tokens JOIN people ON people.id = tokens.person_id WHERE tokens.public = ?;

-- name: UseToken :exec
UPDATE tokens SET used = ? WHERE id = ?;

-- name: TokensOf :many
-- The tokens of a person, without links.
SELECT * FROM tokens WHERE person_id = ? AND kind <> 'link' ORDER BY id;

-- name: CountTokens :one
-- The number of valid tokens of a person, without links.
SELECT count(*) FROM tokens WHERE person_id = ? AND kind <> 'link' AND revoked IS NULL AND (expires IS NULL OR expires > ?);

-- name: RevokeTokensOf :exec
UPDATE tokens SET revoked = sqlc.arg(now) WHERE person_id = sqlc.arg(person_id) AND revoked IS NULL;

-- name: RevokeToken :execrows
UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ? AND person_id = ?;

-- name: CountOtherKeys :one
-- The number of valid tokens with all rights that a person has besides one of them, without links.
SELECT count(*) FROM tokens WHERE person_id = sqlc.arg(person_id) AND id <> sqlc.arg(but) AND kind <> 'link' AND scope = 'all' AND revoked IS NULL
AND (expires IS NULL OR expires > sqlc.arg(now));

-- name: RevokeLinks :exec
-- Revokes the links of a person that nobody has used.
UPDATE tokens SET revoked = sqlc.arg(now) WHERE person_id = sqlc.arg(person_id) AND kind = 'link' AND used IS NULL AND revoked IS NULL;

-- name: UseLink :execrows
-- Records the only use of a link.
UPDATE tokens SET used = sqlc.arg(now), expires = sqlc.arg(expires) WHERE id = sqlc.arg(id) AND used IS NULL;

-- name: AddInvite :one
INSERT INTO invites (public, hash, name, invited_by, created, expires) VALUES (?, ?, ?, ?, ?, ?) RETURNING *;

-- name: InviteByPublic :one
SELECT * FROM invites WHERE public = ?;

-- name: Invites :many
-- The invites that can still be used.
SELECT sqlc.embed(invites), coalesce(people.name, '') AS inviter FROM invites LEFT JOIN people ON people.id = invites.invited_by
WHERE invites.person_id IS NULL AND (invites.expires IS NULL OR invites.expires > sqlc.arg(now)) ORDER BY invites.id;

-- name: UseInvite :execrows
UPDATE invites SET person_id = ? WHERE id = ? AND person_id IS NULL;

-- name: AddMessage :exec
INSERT INTO messages (person_id, version_id, kind, bot, number, match_id, reason, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: CountUnseen :one
SELECT count(*) FROM messages WHERE person_id = ? AND seen IS NULL;

-- name: SetSeen :exec
UPDATE messages SET seen = ? WHERE person_id = sqlc.arg(person_id) AND id >= sqlc.arg(first) AND id <= sqlc.arg(last) AND seen IS NULL;

-- name: MessagesAfter :many
SELECT * FROM messages WHERE person_id = ? AND id > ? ORDER BY id LIMIT ?;

-- name: LastMessages :many
SELECT * FROM messages WHERE person_id = ? ORDER BY id DESC LIMIT ?;

-- name: RevokeInvite :execrows
DELETE FROM invites WHERE id = ? AND person_id IS NULL;

-- name: Blocked :many
SELECT id, blocked FROM people WHERE blocked > 0 ORDER BY blocked;
