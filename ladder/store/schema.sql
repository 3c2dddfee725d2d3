-- Times are microseconds since 1970, UTC; NULL stands for never. JSON is text. Reasons, summaries and what no machine
-- has are texts in JSON, as phrase.Text writes them; '' stands for none.

CREATE TABLE people (
  id      INTEGER PRIMARY KEY,
  name    TEXT    NOT NULL UNIQUE,
  admin   INTEGER NOT NULL CHECK (admin IN (0, 1)),
  created INTEGER NOT NULL,
  blocked INTEGER,
  served  INTEGER -- when a submission of theirs was last begun: who has waited longest comes first
) STRICT;
CREATE INDEX people_blocked ON people (blocked) WHERE blocked > 0;

-- A token is found by its public part; of the whole only the SHA-256 is kept.
CREATE TABLE tokens (
  id        INTEGER PRIMARY KEY,
  person_id INTEGER NOT NULL REFERENCES people (id),
  public    TEXT    NOT NULL UNIQUE,
  hash      BLOB    NOT NULL CHECK (length(hash) = 32),
  label     TEXT    NOT NULL,
  scope     TEXT    NOT NULL CHECK (scope IN ('read', 'submit', 'all')),
  created   INTEGER NOT NULL,
  used      INTEGER,
  expires   INTEGER,
  revoked   INTEGER
) STRICT;
CREATE INDEX tokens_person ON tokens (person_id);

-- Browsers of people who have signed in, by a token, and of guests who play. A session is found by its
-- public part; of its key only the SHA-256 is kept. One that ends is deleted, and no other gets its ID.
CREATE TABLE sessions (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  public    TEXT    NOT NULL UNIQUE,
  hash      BLOB    NOT NULL CHECK (length(hash) = 32),
  person_id INTEGER REFERENCES people (id), -- NULL: a guest
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
  name       TEXT    NOT NULL, -- that it is bound to, '' for any
  invited_by INTEGER REFERENCES people (id),
  created    INTEGER NOT NULL,
  expires    INTEGER,
  person_id  INTEGER REFERENCES people (id) -- who came by it
) STRICT;
CREATE INDEX invites_by ON invites (invited_by);
CREATE INDEX invites_person ON invites (person_id);

CREATE TABLE bots (
  id        INTEGER PRIMARY KEY,
  person_id INTEGER REFERENCES people (id), -- NULL: a house bot
  name      TEXT    NOT NULL UNIQUE,
  created   INTEGER NOT NULL,
  withdrawn INTEGER, -- since when the owner keeps it from playing
  CHECK ((person_id IS NULL) = (name GLOB '@*'))
) STRICT;
CREATE INDEX bots_person ON bots (person_id);

CREATE TABLE versions (
  id       INTEGER PRIMARY KEY,
  bot_id   INTEGER NOT NULL REFERENCES bots (id),
  number   INTEGER NOT NULL CHECK (number > 0),
  label    TEXT    NOT NULL,
  bundle   TEXT    NOT NULL,
  hash     TEXT    NOT NULL,
  language TEXT    NOT NULL,
  games    TEXT    NOT NULL CHECK (json_valid(games)),   -- list of names, [] for all
  command  TEXT    NOT NULL CHECK (json_valid(command)), -- list of words
  state    TEXT    NOT NULL CHECK (state IN ('queued', 'building', 'checking', 'trial', 'live', 'retired', 'failed', 'suspended')),
  reason   TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  began    INTEGER,
  ended    INTEGER,
  remote   INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1)), -- a program on its owner's machine: it plays while it is connected
  needs    TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(needs)), -- of the build, from a machine; see ladder.Needs
  unplayable TEXT  NOT NULL DEFAULT '', -- what no machine has that the version needs; '': it can be played
  UNIQUE (bot_id, number),
  UNIQUE (id, bot_id),
  CHECK (state <> 'live' OR (began IS NOT NULL AND ended IS NULL)),
  CHECK ((ended IS NOT NULL) = (state IN ('retired', 'failed', 'suspended')))
) STRICT;
CREATE UNIQUE INDEX versions_live ON versions (bot_id) WHERE state = 'live';
CREATE UNIQUE INDEX versions_open ON versions (bot_id) WHERE state IN ('queued', 'building', 'checking', 'trial');
CREATE INDEX versions_state ON versions (state);
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
  kind       TEXT    NOT NULL CHECK (kind IN ('failed', 'suspended', 'unplayable', 'playable', 'dropped')),
  bot        TEXT    NOT NULL, -- of the version, also when it is forgotten; '' for a match
  number     INTEGER NOT NULL,
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
  options  TEXT    NOT NULL CHECK (json_valid(options)), -- {name: value}, every one
  clock    TEXT    NOT NULL CHECK (json_valid(clock)),
  deals    INTEGER NOT NULL CHECK (deals > 0),
  slots    INTEGER NOT NULL CHECK (slots > 1),
  house    TEXT    NOT NULL CHECK (json_valid(house)),
  position INTEGER NOT NULL, -- in which they are shown
  active   INTEGER NOT NULL CHECK (active IN (0, 1)),
  finished INTEGER NOT NULL DEFAULT 0 -- matches: the order of the last one
) STRICT;

-- Its only row has the fingerprint of the formula by which all ratings were computed: see rating.Formula.
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

-- A match is rated just when it has a ladder.
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

-- The results of finished matches. id is the order in which they finished; that of a game is 100,000
-- times as much, and its place in the match.
CREATE TABLE results (
  id        INTEGER PRIMARY KEY,
  match_id  INTEGER NOT NULL UNIQUE REFERENCES matches (id),
  ladder_id INTEGER REFERENCES ladders (id), -- the match's
  ord       INTEGER CHECK (ord > 0), -- of the finished matches of its ladder, from 1
  distinct_deals INTEGER CHECK (distinct_deals >= 0), -- deals of a rated match that do not repeat games played before
  games     INTEGER NOT NULL,
  took      INTEGER NOT NULL, -- microseconds, the sum of its games
  data      BLOB    NOT NULL, -- zstd: the games and their seats, as ladder.Game has them in JSON
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

-- The rated games of variants in which deals can be alike, and the order of the first match that had each.
CREATE TABLE fingerprints (
  ladder_id   INTEGER NOT NULL REFERENCES ladders (id),
  fingerprint INTEGER NOT NULL, -- its first eight bytes
  ord         INTEGER NOT NULL,
  PRIMARY KEY (ladder_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE match_slots (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  slot       INTEGER NOT NULL CHECK (slot >= 0),
  version_id INTEGER NOT NULL,
  bot_id     INTEGER NOT NULL,
  faulty     INTEGER NOT NULL DEFAULT 0 CHECK (faulty IN (0, 1)), -- has a game that was forfeited there
  PRIMARY KEY (match_id, slot),
  UNIQUE (match_id, version_id),
  FOREIGN KEY (version_id, bot_id) REFERENCES versions (id, bot_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_slots_bot ON match_slots (bot_id, match_id);
CREATE INDEX match_slots_version ON match_slots (version_id, match_id);
CREATE INDEX match_slots_faulty ON match_slots (bot_id, match_id) WHERE faulty = 1;

-- The seed is nobody's to read before the attempt has ended.
CREATE TABLE attempts (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  number     INTEGER NOT NULL CHECK (number > 0),
  seed       BLOB    NOT NULL CHECK (length(seed) = 32),
  began      INTEGER NOT NULL,
  ended      INTEGER,
  reason     TEXT    NOT NULL,                           -- why it was broken off
  failed     INTEGER NOT NULL CHECK (failed IN (0, 1)), -- the referee's failure, not a stop of the server
  machine    TEXT    NOT NULL, -- that plays it
  PRIMARY KEY (match_id, number)
) STRICT, WITHOUT ROWID;

-- What a finished match moved. number counts the matches of the version on the ladder.
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

-- A version on a ladder: its Elo and its sums over its rated matches there.
CREATE TABLE entries (
  ladder_id   INTEGER NOT NULL REFERENCES ladders (id),
  version_id  INTEGER NOT NULL REFERENCES versions (id),
  predecessor INTEGER,          -- the version whose Elo it started with
  since       INTEGER NOT NULL, -- matches that the ladder had finished when it came
  start       REAL    NOT NULL,
  elo         REAL    NOT NULL,
  uncertainty REAL    NOT NULL, -- of the Elo, as package rating has it
  held        INTEGER NOT NULL CHECK (held IN (0, 1)), -- the anchor
  active      INTEGER NOT NULL CHECK (active IN (0, 1)),
  last        INTEGER NOT NULL, -- the order of its last match; since, before the first
  last_at     INTEGER,
  matches     INTEGER NOT NULL DEFAULT 0,
  games       INTEGER NOT NULL DEFAULT 0,
  wins        INTEGER NOT NULL DEFAULT 0,
  draws       INTEGER NOT NULL DEFAULT 0,
  losses      INTEGER NOT NULL DEFAULT 0,
  faults      INTEGER NOT NULL DEFAULT 0,
  fit         REAL,
  plus_minus  REAL,
  settled     INTEGER NOT NULL AS ((matches > 0) * (1 + coalesce(plus_minus < 100 AND (plus_minus > 0 OR matches >= 40), 0))), -- see ladder.Standing
  PRIMARY KEY (ladder_id, version_id),
  FOREIGN KEY (ladder_id, predecessor) REFERENCES entries (ladder_id, version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_rating ON entries (ladder_id, active, settled, coalesce(fit, elo)); -- the order of the standings: the provisional and those without a match last
CREATE INDEX entries_version ON entries (version_id);
CREATE INDEX entries_predecessor ON entries (ladder_id, predecessor) WHERE predecessor IS NOT NULL;

-- Of every version and ladder, whether the version plays there: it is live and plays the game, its owner is not
-- blocked and the ladder is played; a house bot has to be one of the ladder's.
CREATE VIEW dues AS
SELECT ladders.id AS ladder_id, versions.id AS version_id,
  versions.state = 'live' AND ladders.active AND people.blocked IS NULL
  AND (versions.games = '[]' OR EXISTS (SELECT 1 FROM json_each(versions.games) WHERE json_each.value = ladders.game))
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

-- The counts of two opponents on a ladder, a < b, for fits and matchmaking.
CREATE TABLE pairs (
  ladder_id INTEGER NOT NULL,
  a         INTEGER NOT NULL,
  b         INTEGER NOT NULL,
  matches   INTEGER NOT NULL,
  deals     REAL    NOT NULL,
  score     REAL    NOT NULL, -- of a
  squares   REAL    NOT NULL,
  wins      INTEGER NOT NULL DEFAULT 0, -- games in which a was ahead of b
  draws     INTEGER NOT NULL DEFAULT 0,
  losses    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (ladder_id, a, b),
  CHECK (a < b),
  FOREIGN KEY (ladder_id, a) REFERENCES entries (ladder_id, version_id),
  FOREIGN KEY (ladder_id, b) REFERENCES entries (ladder_id, version_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pairs_other ON pairs (ladder_id, b, a, matches);

-- Games of people, alone or several, with bots at the other seats. They do not move the ratings of bots.
CREATE TABLE plays (
  id         TEXT    PRIMARY KEY, -- cannot be guessed
  game       TEXT    NOT NULL,
  options    TEXT    NOT NULL CHECK (json_valid(options)), -- name to value, all of them
  opener     INTEGER NOT NULL, -- the seat of the person who opened the table
  bank       INTEGER NOT NULL, -- milliseconds of each person for the game; 0: they have no clock
  state      TEXT    NOT NULL CHECK (state IN ('open', 'finished', 'broken')), -- broken: the server ended it, for nobody
  commitment TEXT    NOT NULL, -- of the seed, which the replay tells
  began      INTEGER NOT NULL,
  ended      INTEGER,
  replay     BLOB,
  broken     TEXT    NOT NULL DEFAULT '', -- why the server ended it: see ladder.Play
  rated      INTEGER UNIQUE CHECK (rated > 0), -- the order of those that move ratings of people, from 1; NULL: it moves none
  CHECK (rated IS NULL OR state = 'finished'),
  CHECK ((ended IS NULL) = (state = 'open')),
  CHECK ((replay IS NULL) = (state <> 'finished')),
  CHECK ((broken = '') = (state <> 'broken'))
) STRICT;
CREATE INDEX plays_open ON plays (state) WHERE state = 'open';

-- The people and bots of such games. A bot that sits at several seats has a row for each; only the first
-- counts in its record, as of rules.Records.
CREATE TABLE play_seats (
  play_id    TEXT    NOT NULL REFERENCES plays (id),
  seat       INTEGER NOT NULL,
  version_id INTEGER, -- NULL: a person
  bot_id     INTEGER,
  person_id  INTEGER REFERENCES people (id), -- NULL: a bot or a guest
  session    INTEGER NOT NULL DEFAULT 0, -- in which the person sat down; it may have ended
  sat        INTEGER, -- when the person sat down; NULL: a bot
  wins       INTEGER NOT NULL DEFAULT 0,
  draws      INTEGER NOT NULL DEFAULT 0,
  losses     INTEGER NOT NULL DEFAULT 0,
  ended      INTEGER, -- of a seat that counts in the record of the person or bot
  rating_before REAL, -- of the person, in a game that moves it
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

-- The ratings of people, which their games against each other move, with the record of these games.
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
CREATE INDEX person_ratings_order ON person_ratings (game, provisional, rating DESC); -- the provisional last
CREATE INDEX person_ratings_person ON person_ratings (person_id);

-- The games of people without an account, for a day.
CREATE TABLE guest_plays (
  address TEXT    NOT NULL,
  began   INTEGER NOT NULL
) STRICT;
CREATE INDEX guest_plays_address ON guest_plays (address, began);
CREATE INDEX guest_plays_began ON guest_plays (began);

-- Documents of old matches are moved to files.
CREATE TABLE archives (
  id      INTEGER PRIMARY KEY,
  hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the file, which is its name
  size    INTEGER NOT NULL,
  created INTEGER NOT NULL
) STRICT;

-- The replays of a match are compressed together, and so are its logs: what its games have in common is
-- kept once.
CREATE TABLE documents (
  match_id   INTEGER NOT NULL REFERENCES matches (id),
  kind       TEXT    NOT NULL CHECK (kind IN ('replays', 'logs')),
  size       INTEGER NOT NULL, -- before it was compressed
  hash       BLOB    NOT NULL CHECK (length(hash) = 32), -- SHA-256 of data
  data       BLOB,             -- zstd; NULL: it is in an archive
  archive_id INTEGER REFERENCES archives (id),
  start      INTEGER,          -- in the archive, in bytes, as length
  length     INTEGER,
  PRIMARY KEY (match_id, kind),
  CHECK ((data IS NULL) = (archive_id IS NOT NULL)),
  CHECK ((data IS NULL) = (start IS NOT NULL)),
  CHECK ((data IS NULL) = (length IS NOT NULL))
) STRICT;
CREATE INDEX documents_archive ON documents (archive_id) WHERE archive_id IS NOT NULL;
CREATE INDEX documents_kept ON documents (match_id) WHERE archive_id IS NULL;
