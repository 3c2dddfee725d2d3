-- Queries of the pages about bots and people. Each reads a bounded number of rows, except a search for names: if it
-- finds nothing, it has read a whole index.

-- name: ListBots :many
-- Bots with an ID below a given one, the last one first, with the live version or, if none is live, the last one. If a
-- ladder is given, only bots that play on it. House bots that people have made are left out unless a name is given.
SELECT sqlc.embed(bots), coalesce(people.name, '') AS owner, versions.number, versions.state, versions.language, versions.label
FROM bots
JOIN versions ON versions.id = (SELECT v.id FROM versions AS v WHERE v.bot_id = bots.id ORDER BY v.state = 'live' DESC, v.number DESC LIMIT 1)
LEFT JOIN people ON people.id = bots.person_id
WHERE bots.id < CAST(sqlc.arg(before) AS INTEGER)
  AND (CAST(sqlc.arg(name) AS TEXT) <> '' OR bots.made_by IS NULL)
  AND (CAST(sqlc.arg(name) AS TEXT) = '' OR instr(bots.name, CAST(sqlc.arg(name) AS TEXT)) > 0 OR instr(people.handle, CAST(sqlc.arg(name) AS TEXT)) > 0)
  AND (CAST(sqlc.arg(house) AS INTEGER) < 0 OR (bots.person_id IS NULL) = CAST(sqlc.arg(house) AS INTEGER))
  AND (CAST(sqlc.arg(language) AS TEXT) = '' OR versions.language = CAST(sqlc.arg(language) AS TEXT))
  AND (CAST(sqlc.arg(ladder_id) AS INTEGER) = 0 OR EXISTS (
    SELECT 1 FROM entries WHERE entries.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER) AND entries.version_id = versions.id AND entries.active = 1))
ORDER BY bots.id DESC LIMIT sqlc.arg(n);

-- name: BotsOfBefore :many
SELECT sqlc.embed(bots), versions.number, versions.state, versions.language, versions.label
FROM bots
JOIN versions ON versions.id = (SELECT v.id FROM versions AS v WHERE v.bot_id = bots.id ORDER BY v.state = 'live' DESC, v.number DESC LIMIT 1)
WHERE bots.person_id = ? AND bots.id < ? ORDER BY bots.id DESC LIMIT ?;

-- name: NextLanguage :one
SELECT language FROM versions WHERE language > ? ORDER BY language LIMIT 1;

-- name: BotsWith :many
-- The names that contain a text. Names that begin with it come first.
SELECT name FROM (SELECT name, instr(name, CAST(sqlc.arg(part) AS TEXT)) AS at FROM bots WHERE name > '') AS found
WHERE at > 0 ORDER BY at > 1, name LIMIT sqlc.arg(n);

-- name: PeopleWith :many
SELECT name FROM (SELECT name, handle, instr(handle, CAST(sqlc.arg(part) AS TEXT)) AS at FROM people WHERE handle > '') AS found
WHERE at > 0 ORDER BY at > 1, handle LIMIT sqlc.arg(n);

-- name: VersionsOfBefore :many
SELECT * FROM version_rows WHERE bot_id = ? AND number < ? ORDER BY number DESC LIMIT ?;

-- name: EntriesOfVersion :many
SELECT standing_rows.* FROM standing_rows JOIN ladders ON ladders.id = standing_rows.ladder_id
WHERE standing_rows.version_id = ? ORDER BY ladders.active DESC, ladders.position, ladders.id;

-- name: LastPlaced :one
-- The last version of a bot that is or was on a ladder.
SELECT versions.id FROM versions WHERE versions.bot_id = ?
  AND EXISTS (SELECT 1 FROM entries WHERE entries.version_id = versions.id) ORDER BY versions.state = 'live' DESC, versions.number DESC LIMIT 1;

-- name: StandingsOnLadder :many
-- The last versions of a bot that have played on a ladder, the last one first.
SELECT standing_rows.* FROM versions CROSS JOIN standing_rows ON standing_rows.version_id = versions.id
WHERE versions.bot_id = ? AND standing_rows.ladder_id = ? AND standing_rows.matches > 0 ORDER BY versions.number DESC LIMIT ?;

-- name: RatingPoints :many
-- The changes by given matches; wanted is a JSON list of pairs of a version ID and the number of a match of the version.
SELECT changes.version_id, changes.number, changes.elo_after, changes.match_id, matches.finished
FROM json_each(CAST(sqlc.arg(wanted) AS TEXT)) AS want
CROSS JOIN changes ON changes.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER)
  AND changes.version_id = json_extract(want.value, '$[0]') AND changes.number = json_extract(want.value, '$[1]')
CROSS JOIN matches ON matches.id = changes.match_id;

-- name: Opponents :many
-- The record of versions against each opponent on a ladder, ordered by the number of games, the most first. versions is
-- a JSON list of IDs.
SELECT bots.name, CAST(sum(met.matches) AS INTEGER) AS matches, CAST(sum(met.wins) AS INTEGER) AS wins, CAST(sum(met.draws) AS INTEGER) AS draws,
  CAST(sum(met.losses) AS INTEGER) AS losses, CAST(sum(met.deals) AS REAL) AS deals, CAST(sum(met.score) AS REAL) AS score, count(*) OVER () AS total
FROM (
  SELECT pairs.b AS other, pairs.matches, pairs.wins, pairs.draws, pairs.losses, pairs.deals, pairs.score
  FROM json_each(CAST(sqlc.arg(versions) AS TEXT)) AS own
  CROSS JOIN pairs ON pairs.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER) AND pairs.a = own.value
  UNION ALL
  SELECT pairs.a, pairs.matches, pairs.losses, pairs.draws, pairs.wins, pairs.deals, pairs.deals - pairs.score
  FROM json_each(CAST(sqlc.arg(versions) AS TEXT)) AS own
  CROSS JOIN pairs INDEXED BY pairs_other ON pairs.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER) AND pairs.b = own.value
) AS met
CROSS JOIN versions ON versions.id = met.other
CROSS JOIN bots ON bots.id = versions.bot_id
GROUP BY bots.id ORDER BY sum(met.wins + met.draws + met.losses) DESC, bots.id LIMIT sqlc.arg(n) OFFSET sqlc.arg(skip);

-- name: FaultsOfBot :many
-- The last matches in which a bot forfeited a game.
SELECT match_slots.slot, versions.number, settings.game, matches.finished, sqlc.embed(result_rows)
FROM match_slots
CROSS JOIN matches ON matches.id = match_slots.match_id
CROSS JOIN settings ON settings.id = matches.settings_id
CROSS JOIN result_rows ON result_rows.match_id = match_slots.match_id
CROSS JOIN versions ON versions.id = match_slots.version_id
WHERE match_slots.bot_id = ? AND match_slots.faulty = 1 ORDER BY match_slots.match_id DESC LIMIT ?;

-- name: MessagesOfBot :many
-- The last messages about versions of a bot.
SELECT messages.* FROM versions CROSS JOIN messages ON messages.version_id = versions.id
WHERE versions.bot_id = ? ORDER BY messages.id DESC LIMIT ?;

-- name: PairsAmong :many
-- The results of versions against each other; versions is a JSON list of IDs.
SELECT pairs.*
FROM json_each(CAST(sqlc.arg(versions) AS TEXT)) AS x
CROSS JOIN json_each(CAST(sqlc.arg(versions) AS TEXT)) AS y
CROSS JOIN pairs ON pairs.ladder_id = CAST(sqlc.arg(ladder_id) AS INTEGER) AND pairs.a = x.value AND pairs.b = y.value;
