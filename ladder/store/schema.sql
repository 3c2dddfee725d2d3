-- Times are in microseconds since 1970, UTC; NULL means never. JSON is stored as TEXT. Reasons, summaries and the column
-- unplayable are texts in the JSON form of phrase.Text; '' means none.

CREATE TABLE people (
  id      INTEGER PRIMARY KEY,
  name    TEXT    NOT NULL,
  admin   INTEGER NOT NULL CHECK (admin IN (0, 1)),
  created INTEGER NOT NULL,
  blocked INTEGER,
  removed INTEGER, -- when an admin removed the person, who is blocked for ever and has another name and handle since then
  served  INTEGER, -- when a submission of the person last started; the longest ago comes first in the queue
  handle  TEXT    NOT NULL UNIQUE, -- the name in lower case and usual width, which makes it unique
  CHECK (removed IS NULL OR blocked IS NOT NULL)
) STRICT;
CREATE INDEX people_blocked ON people (blocked) WHERE blocked > 0;

-- The handles that removed people had. Nobody else gets them.
CREATE TABLE removed_names (
  handle TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The only row, if there is one, is what an admin tells everybody on all pages.
CREATE TABLE announcement (
  text TEXT NOT NULL
) STRICT;

-- The ways to sign in. A token is found by its public part. Of the whole text only the SHA-256 is stored. A link can be
-- used once; then it expires with its session. A passkey is a key pair in a browser or in a person's device; nobody knows
-- a text with its hash.
CREATE TABLE tokens (
  id        INTEGER PRIMARY KEY,
  person_id INTEGER NOT NULL REFERENCES people (id),
  public    TEXT    NOT NULL UNIQUE,
  hash      BLOB    NOT NULL CHECK (length(hash) = 32),
  label     TEXT    NOT NULL,
  kind      TEXT    NOT NULL CHECK (kind IN ('token', 'link', 'passkey')),
  scope     TEXT    NOT NULL CHECK (scope IN ('read', 'submit', 'all')),
  created   INTEGER NOT NULL,
  used      INTEGER,
  expires   INTEGER,
  revoked   INTEGER
) STRICT;
CREATE INDEX tokens_person ON tokens (person_id);

CREATE TABLE passkeys (
  token_id   INTEGER PRIMARY KEY REFERENCES tokens (id),
  credential BLOB NOT NULL UNIQUE, -- ID of the key pair
  data       TEXT NOT NULL CHECK (json_valid(data)) -- what a signature is checked with: see package webauthn
) STRICT;

-- Browser sessions of people who have signed in with a token, and of guests who play. A session is found by its public
-- part; of its key only the SHA-256 is stored. A session that ends is deleted, and its ID is never used again.
CREATE TABLE sessions (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  public    TEXT    NOT NULL UNIQUE,
  hash      BLOB    NOT NULL CHECK (length(hash) = 32),
  person_id INTEGER REFERENCES people (id), -- NULL for a guest
  token_id  INTEGER REFERENCES tokens (id),
  created   INTEGER NOT NULL,
  used      INTEGER NOT NULL,
  expires   INTEGER NOT NULL,
  CHECK ((person_id IS NULL) = (token_id IS NULL))
) STRICT;
CREATE INDEX sessions_person ON sessions (person_id, used);
CREATE INDEX sessions_token ON sessions (token_id);
CREATE INDEX sessions_expires ON sessions (expires);

CREATE TABLE invites (
  id         INTEGER PRIMARY KEY,
  public     TEXT    NOT NULL UNIQUE,
  hash       BLOB    NOT NULL CHECK (length(hash) = 32),
  name       TEXT    NOT NULL, -- that the account must have; '' for any
  invited_by INTEGER REFERENCES people (id),
  created    INTEGER NOT NULL,
  expires    INTEGER,
  person_id  INTEGER REFERENCES people (id) -- who joined with it
) STRICT;
CREATE INDEX invites_by ON invites (invited_by);
CREATE INDEX invites_person ON invites (person_id);

CREATE TABLE bots (
  id        INTEGER PRIMARY KEY,
  person_id INTEGER REFERENCES people (id), -- NULL for a house bot
  name      TEXT    NOT NULL UNIQUE,
  created   INTEGER NOT NULL,
  withdrawn INTEGER, -- when the owner withdrew it from play, or an admin banned it
  banned    INTEGER, -- when an admin banned it; then its owner cannot bring it back
  ban_reason TEXT NOT NULL DEFAULT '', -- what the admin wrote to the owner
  made_by   INTEGER REFERENCES people (id), -- who was the first to choose the options of this house bot; NULL for other bots
  CHECK (banned IS NULL OR withdrawn IS NOT NULL),
  CHECK ((person_id IS NULL) = (name GLOB '@*')),
  CHECK (made_by IS NULL OR person_id IS NULL)
) STRICT;
CREATE INDEX bots_person ON bots (person_id);
CREATE INDEX bots_made ON bots (made_by) WHERE made_by IS NOT NULL;
CREATE INDEX bots_banned ON bots (banned) WHERE banned IS NOT NULL;

CREATE TABLE versions (
  id       INTEGER PRIMARY KEY,
  bot_id   INTEGER NOT NULL REFERENCES bots (id),
  number   INTEGER NOT NULL CHECK (number > 0),
  label    TEXT    NOT NULL,
  bundle   TEXT    NOT NULL,
  hash     TEXT    NOT NULL,
  language TEXT    NOT NULL,
  games    TEXT    NOT NULL CHECK (json_valid(games)),   -- list, as in "brisca players=2"; [] means all
  command  TEXT    NOT NULL CHECK (json_valid(command)), -- list of words
  state    TEXT    NOT NULL CHECK (state IN ('queued', 'building', 'checking', 'trial', 'live', 'retired', 'failed', 'cancelled', 'suspended')),
  reason   TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  began    INTEGER,
  ended    INTEGER,
  remote   INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1)), -- runs on its owner's machine and plays while connected
  needs    TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(needs)), -- what the build needs from a machine: see ladder.Needs
  training TEXT    NOT NULL DEFAULT '', -- JSON: the record of the training of a model; '' for other bots
  unplayable TEXT  NOT NULL DEFAULT '', -- what the version needs that no machine has; '' if it can be played
  UNIQUE (bot_id, number),
  UNIQUE (id, bot_id),
  CHECK (state <> 'live' OR (began IS NOT NULL AND ended IS NULL)),
  CHECK ((ended IS NOT NULL) = (state IN ('retired', 'failed', 'cancelled', 'suspended')))
) STRICT;
CREATE UNIQUE INDEX versions_live ON versions (bot_id) WHERE state = 'live';
CREATE UNIQUE INDEX versions_open ON versions (bot_id) WHERE state IN ('queued', 'building', 'checking', 'trial');
CREATE INDEX versions_state ON versions (state);
CREATE INDEX versions_ended ON versions (state, ended) WHERE ended IS NOT NULL;
CREATE INDEX versions_bundle ON versions (bundle);
CREATE INDEX versions_language ON versions (language);

CREATE VIEW version_rows AS
SELECT versions.*, bots.name, bots.person_id FROM versions JOIN bots ON bots.id = versions.bot_id;

CREATE TABLE stages (
  version_id INTEGER NOT NULL REFERENCES versions (id),
  name       TEXT    NOT NULL,
  ok         INTEGER NOT NULL CHECK (ok IN (0, 1)),
  began      INTEGER NOT NULL,
  ended      INTEGER,
  summary    TEXT    NOT NULL,
  log        BLOB    NOT NULL, -- zstd
  UNIQUE (version_id, name)
) STRICT;

CREATE TABLE messages (
  id         INTEGER PRIMARY KEY,
  person_id  INTEGER NOT NULL REFERENCES people (id),
  version_id INTEGER REFERENCES versions (id),
  kind       TEXT    NOT NULL CHECK (kind IN ('failed', 'suspended', 'unplayable', 'playable', 'dropped', 'banned', 'unbanned')),
  bot        TEXT    NOT NULL, -- of the version, even if that was deleted; '' for a match
  number     INTEGER NOT NULL, -- of the version; 0 if the message is about the bot or a match
  match_id   INTEGER REFERENCES matches (id),
  reason     TEXT    NOT NULL,
  created    INTEGER NOT NULL,
  seen       INTEGER
) STRICT;
CREATE INDEX messages_person ON messages (person_id);
CREATE INDEX messages_unseen ON messages (person_id, id) WHERE seen IS NULL;
CREATE INDEX messages_match ON messages (match_id) WHERE match_id IS NOT NULL;
CREATE INDEX messages_version ON messages (version_id);

CREATE TABLE ladders (
  id       INTEGER PRIMARY KEY,
  name     TEXT    NOT NULL UNIQUE,
  title    TEXT    NOT NULL,
  game     TEXT    NOT NULL,
  options  TEXT    NOT NULL CHECK (json_valid(options)), -- {name: value}, with every option
  clock    TEXT    NOT NULL CHECK (json_valid(clock)),
  deals    INTEGER NOT NULL CHECK (deals > 0),
  slots    INTEGER NOT NULL CHECK (slots > 1),
  house    TEXT    NOT NULL CHECK (json_valid(house)),
  position INTEGER NOT NULL, -- in the order of the configuration
  active   INTEGER NOT NULL CHECK (active IN (0, 1)),
  paused   INTEGER, -- since when an admin lets no new match start
  finished INTEGER NOT NULL DEFAULT 0 -- number of finished matches, which is the ord of the last one
) STRICT;

-- The only row has the fingerprint of the formula that computed all ratings: see rating.Formula.
CREATE TABLE formula (
  fingerprint TEXT NOT NULL
) STRICT;

-- What is played in a match.
CREATE TABLE settings (
  id      INTEGER PRIMARY KEY,
  game    TEXT    NOT NULL,
  options TEXT    NOT NULL CHECK (json_valid(options)),
  clock   TEXT    NOT NULL CHECK (json_valid(clock)),
  deals   INTEGER NOT NULL CHECK (deals > 0),
  UNIQUE (game, options, clock, deals)
) STRICT;

-- A match is rated if and only if it has a ladder.
CREATE TABLE matches (
  id          INTEGER PRIMARY KEY,
  ladder_id   INTEGER REFERENCES ladders (id),
  settings_id INTEGER NOT NULL REFERENCES settings (id),
  state       TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'finished', 'dropped')),
  asked_by    INTEGER REFERENCES people (id),
  reason      TEXT    NOT NULL,
  created     INTEGER NOT NULL,
  began       INTEGER,
  finished    INTEGER,
  result_id   INTEGER, -- the ID of its result
  CHECK (ladder_id IS NULL OR asked_by IS NULL),
  CHECK (state NOT IN ('running', 'finished') OR began IS NOT NULL),
  CHECK ((finished IS NOT NULL) = (state IN ('finished', 'dropped')))
) STRICT;
CREATE INDEX matches_ladder ON matches (ladder_id);
CREATE INDEX matches_state ON matches (state);
CREATE INDEX matches_ladder_state ON matches (ladder_id, state);
CREATE INDEX matches_asked ON matches (asked_by, state) WHERE asked_by IS NOT NULL;

-- The results of finished matches. IDs are in the order in which the matches finished. The ID of a game is the ID of the
-- result times 100,000 plus the index of the game in the match.
CREATE TABLE results (
  id        INTEGER PRIMARY KEY,
  match_id  INTEGER NOT NULL UNIQUE REFERENCES matches (id),
  ladder_id INTEGER REFERENCES ladders (id), -- of the match
  ord       INTEGER CHECK (ord > 0), -- position among the finished matches of its ladder, from 1
  distinct_deals INTEGER CHECK (distinct_deals >= 0), -- deals of a rated match that do not repeat earlier games
  games     INTEGER NOT NULL,
  took      INTEGER NOT NULL, -- microseconds, sum of all games
  data      BLOB    NOT NULL, -- zstd: JSON list of ladder.Game
  CHECK ((ord IS NOT NULL) = (ladder_id IS NOT NULL)),
  CHECK ((distinct_deals IS NOT NULL) = (ladder_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX results_order ON results (ladder_id, ord) WHERE ord IS NOT NULL;
CREATE INDEX results_ladder ON results (ladder_id);

CREATE VIEW match_rows AS
SELECT matches.id, matches.ladder_id, settings.game, settings.options, settings.clock, settings.deals, matches.state, matches.asked_by,
  matches.reason, matches.created, matches.began, matches.finished, results.ord, results.distinct_deals
FROM matches CROSS JOIN settings ON settings.id = matches.settings_id LEFT JOIN results ON results.match_id = matches.id;

CREATE VIEW result_rows AS
SELECT results.*, coalesce(ladders.name, '') AS ladder FROM results LEFT JOIN ladders ON ladders.id = results.ladder_id;

-- The rated games of variants in which deals can repeat. ord is the order of the first match with that game.
CREATE TABLE fingerprints (
  ladder_id   INTEGER NOT NULL REFERENCES ladders (id),
  fingerprint INTEGER NOT NULL, -- first eight bytes
  ord         INTEGER NOT NULL,
  PRIMARY KEY (ladder_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE match_slots (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  slot       INTEGER NOT NULL CHECK (slot >= 0),
  version_id INTEGER NOT NULL,
  bot_id     INTEGER NOT NULL,
  faulty     INTEGER NOT NULL DEFAULT 0 CHECK (faulty IN (0, 1)), -- has a fault in some game
  PRIMARY KEY (match_id, slot),
  UNIQUE (match_id, version_id),
  FOREIGN KEY (version_id, bot_id) REFERENCES versions (id, bot_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_slots_bot ON match_slots (bot_id, match_id);
CREATE INDEX match_slots_version ON match_slots (version_id, match_id);
CREATE INDEX match_slots_faulty ON match_slots (bot_id, match_id) WHERE faulty = 1;

-- The seed is secret until the attempt has ended.
CREATE TABLE attempts (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  number     INTEGER NOT NULL CHECK (number > 0),
  seed       BLOB    NOT NULL CHECK (length(seed) = 32),
  began      INTEGER NOT NULL,
  ended      INTEGER,
  reason     TEXT    NOT NULL,                           -- why it was interrupted
  failed     INTEGER NOT NULL CHECK (failed IN (0, 1)), -- whether the referee failed; 0 if the server stopped
  machine    TEXT    NOT NULL, -- name of the machine that plays it
  PRIMARY KEY (match_id, number)
) STRICT, WITHOUT ROWID;

-- The rating changes by finished matches. number counts the matches of the version on the ladder.
CREATE TABLE changes (
  match_id   INTEGER NOT NULL,
  slot       INTEGER NOT NULL,
  ladder_id  INTEGER NOT NULL,
  version_id INTEGER NOT NULL,
  number     INTEGER NOT NULL CHECK (number > 0),
  elo_before REAL    NOT NULL,
  elo_after  REAL    NOT NULL,
  k           REAL    NOT NULL,
  score       REAL    NOT NULL,
  expected    REAL    NOT NULL,
  uncertainty REAL    NOT NULL, -- after the match
  PRIMARY KEY (match_id, slot),
  FOREIGN KEY (match_id, slot) REFERENCES match_slots (match_id, slot),
  FOREIGN KEY (ladder_id, version_id) REFERENCES entries (ladder_id, version_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX changes_history ON changes (ladder_id, version_id, number);

-- A version on a ladder, with its Elo and its totals over the rated matches there.
CREATE TABLE entries (
  ladder_id   INTEGER NOT NULL REFERENCES ladders (id),
  version_id  INTEGER NOT NULL REFERENCES versions (id),
  predecessor INTEGER,          -- the version whose Elo it started with
  since       INTEGER NOT NULL, -- matches that the ladder had finished when the version entered it
  start       REAL    NOT NULL,
  elo         REAL    NOT NULL,
  uncertainty REAL    NOT NULL, -- of the Elo: see package rating
  held        INTEGER NOT NULL CHECK (held IN (0, 1)), -- 1 for the anchor, whose Elo is fixed
  active      INTEGER NOT NULL CHECK (active IN (0, 1)),
  last        INTEGER NOT NULL, -- ord of its last match; equal to since before the first
  last_at     INTEGER,
  matches     INTEGER NOT NULL DEFAULT 0,
  games       INTEGER NOT NULL DEFAULT 0,
  wins        INTEGER NOT NULL DEFAULT 0,
  draws       INTEGER NOT NULL DEFAULT 0,
  losses      INTEGER NOT NULL DEFAULT 0,
  faults      INTEGER NOT NULL DEFAULT 0,
  fit         REAL,
  plus_minus  REAL,
  opponents   INTEGER NOT NULL DEFAULT 0, -- how many other versions it had met at the last fit
  PRIMARY KEY (ladder_id, version_id),
  FOREIGN KEY (ladder_id, predecessor) REFERENCES entries (ladder_id, version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_active ON entries (ladder_id, active);
CREATE INDEX entries_version ON entries (version_id);
CREATE INDEX entries_predecessor ON entries (ladder_id, predecessor) WHERE predecessor IS NOT NULL;

-- For every version and ladder, whether the version must be active there: it is live and plays the game with the options of
-- the ladder, its owner is not blocked, and the ladder is active. A house bot must also be listed by the ladder.
CREATE VIEW dues AS
SELECT ladders.id AS ladder_id, versions.id AS version_id,
  versions.state = 'live' AND ladders.active AND people.blocked IS NULL
  AND (versions.games = '[]' OR EXISTS (
    SELECT 1 FROM json_each(versions.games) AS claim
    WHERE instr(claim.value || ' ', ladders.game || ' ') = 1 AND NOT EXISTS (
      SELECT 1 FROM json_each('[' || replace(json_quote(claim.value), ' ', '","') || ']') AS word
      WHERE word.key > 0 AND NOT EXISTS (SELECT 1 FROM json_each(ladders.options) AS option WHERE option.key || '=' || option.value = word.value))))
  AND (bots.person_id IS NOT NULL OR EXISTS (SELECT 1 FROM json_each(ladders.house) WHERE json_each.value = bots.name)) AS due
FROM versions JOIN bots ON bots.id = versions.bot_id CROSS JOIN ladders LEFT JOIN people ON people.id = bots.person_id;

CREATE VIEW standing_rows AS
SELECT entries.*, versions.number, versions.remote, versions.bot_id, bots.name, coalesce(bots.person_id, 0) AS person_id,
  coalesce(people.name, '') AS owner, ladders.name AS ladder
FROM entries
JOIN versions ON versions.id = entries.version_id
JOIN bots ON bots.id = versions.bot_id
JOIN ladders ON ladders.id = entries.ladder_id
LEFT JOIN people ON people.id = bots.person_id;

-- The results of two versions against each other on a ladder, for fitting ratings and for matchmaking.
CREATE TABLE pairs (
  ladder_id INTEGER NOT NULL,
  a         INTEGER NOT NULL,
  b         INTEGER NOT NULL,
  matches   INTEGER NOT NULL,
  deals     REAL    NOT NULL,
  score     REAL    NOT NULL, -- of a: the sum over the deals
  squares   REAL    NOT NULL, -- of the scores: their sum over the deals
  wins      INTEGER NOT NULL DEFAULT 0, -- games in which a had the better rank
  draws     INTEGER NOT NULL DEFAULT 0,
  losses    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (ladder_id, a, b),
  CHECK (a < b),
  FOREIGN KEY (ladder_id, a) REFERENCES entries (ladder_id, version_id),
  FOREIGN KEY (ladder_id, b) REFERENCES entries (ladder_id, version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pairs_other ON pairs (ladder_id, b, a, matches);

-- Games with at least one person; bots may have the other seats. They do not change the ratings of bots.
CREATE TABLE plays (
  id         TEXT    PRIMARY KEY, -- random text that cannot be guessed
  game       TEXT    NOT NULL,
  options    TEXT    NOT NULL CHECK (json_valid(options)), -- {name: value}, with every option
  opener     INTEGER NOT NULL, -- the seat of the person who opened the table
  bank       INTEGER NOT NULL, -- milliseconds of each person for the whole game; 0 means no clock
  state      TEXT    NOT NULL CHECK (state IN ('open', 'finished', 'broken')), -- broken: ended by the server without a result
  commitment TEXT    NOT NULL, -- hash of the seed, which the replay reveals
  began      INTEGER NOT NULL,
  ended      INTEGER,
  replay     BLOB,
  broken     TEXT    NOT NULL DEFAULT '', -- why the server ended it: see ladder.BreakReason
  rated      INTEGER UNIQUE CHECK (rated > 0), -- position among the games that changed ratings of people, from 1; NULL for other games
  CHECK (rated IS NULL OR state = 'finished'),
  CHECK ((ended IS NULL) = (state = 'open')),
  CHECK ((replay IS NULL) = (state <> 'finished')),
  CHECK ((broken = '') = (state <> 'broken'))
) STRICT;
CREATE INDEX plays_open ON plays (state) WHERE state = 'open';

-- The people and bots of these games. A bot at several seats has a row for each, of which only the first counts in its
-- record: see rules.Records.
CREATE TABLE play_seats (
  play_id    TEXT    NOT NULL REFERENCES plays (id),
  seat       INTEGER NOT NULL,
  version_id INTEGER, -- NULL for a person
  bot_id     INTEGER,
  person_id  INTEGER REFERENCES people (id), -- NULL for a bot or a guest
  session    INTEGER NOT NULL DEFAULT 0, -- ID of the session in which the person sat down; it may have ended
  sat        INTEGER, -- when the person sat down; NULL for a bot
  wins       INTEGER NOT NULL DEFAULT 0,
  draws      INTEGER NOT NULL DEFAULT 0,
  losses     INTEGER NOT NULL DEFAULT 0,
  ended      INTEGER, -- set if the seat counts in the record of the person or bot
  rating_before REAL, -- of the person, in a game that changes it
  rating_after  REAL,
  PRIMARY KEY (play_id, seat),
  FOREIGN KEY (version_id, bot_id) REFERENCES versions (id, bot_id),
  CHECK ((version_id IS NULL) = (bot_id IS NULL)),
  CHECK ((sat IS NULL) = (bot_id IS NOT NULL)),
  CHECK (bot_id IS NULL OR person_id IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX play_seats_bot ON play_seats (bot_id, wins, draws, losses);
CREATE INDEX play_seats_version ON play_seats (version_id);
CREATE INDEX play_seats_ended ON play_seats (bot_id, ended) WHERE ended IS NOT NULL;
CREATE INDEX play_seats_person ON play_seats (person_id, sat);

-- The ratings of people, from their games against each other, with the results of these games.
CREATE TABLE person_ratings (
  game        TEXT    NOT NULL,
  person_id   INTEGER NOT NULL REFERENCES people (id),
  rating      REAL    NOT NULL,
  deviation   REAL    NOT NULL,
  volatility  REAL    NOT NULL,
  wins        INTEGER NOT NULL,
  draws       INTEGER NOT NULL,
  losses      INTEGER NOT NULL,
  provisional INTEGER NOT NULL AS (deviation > 110),
  PRIMARY KEY (game, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_ratings_order ON person_ratings (game, provisional, rating DESC); -- provisional ratings come last
CREATE INDEX person_ratings_person ON person_ratings (person_id);

-- The games that guests started within the last 24 hours, for the limit per address.
CREATE TABLE guest_plays (
  address TEXT    NOT NULL,
  began   INTEGER NOT NULL
) STRICT;
CREATE INDEX guest_plays_address ON guest_plays (address, began);
CREATE INDEX guest_plays_began ON guest_plays (began);

-- Archive files, to which the documents of old matches are moved.
CREATE TABLE archives (
  id      INTEGER PRIMARY KEY,
  hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the file, which is also its name
  size    INTEGER NOT NULL,
  created INTEGER NOT NULL
) STRICT;

-- All replays of a match are compressed together, and so are all its logs, because games of a match have much in common.
CREATE TABLE documents (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  kind       TEXT    NOT NULL CHECK (kind IN ('replays', 'logs')),
  size       INTEGER NOT NULL, -- before compression
  hash       BLOB    NOT NULL CHECK (length(hash) = 32), -- SHA-256 of data
  data       BLOB,             -- zstd; NULL if it is in an archive file
  archive_id INTEGER REFERENCES archives (id),
  start      INTEGER,          -- position in the archive file, in bytes
  length     INTEGER,
  PRIMARY KEY (match_id, kind),
  CHECK ((data IS NULL) = (archive_id IS NOT NULL)),
  CHECK ((data IS NULL) = (start IS NOT NULL)),
  CHECK ((data IS NULL) = (length IS NOT NULL))
) STRICT;
CREATE INDEX documents_archive ON documents (archive_id) WHERE archive_id IS NOT NULL;
CREATE INDEX documents_kept ON documents (match_id) WHERE archive_id IS NULL;
