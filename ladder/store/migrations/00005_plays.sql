-- +goose Up

-- Games between people and bots, unrated.
CREATE TABLE plays (
  id         TEXT    PRIMARY KEY, -- cannot be guessed
  person_id  INTEGER REFERENCES people (id), -- NULL: a guest
  game       TEXT    NOT NULL,
  options    TEXT    NOT NULL CHECK (json_valid(options)), -- name to value, all of them
  seat       INTEGER NOT NULL, -- the person's
  state      TEXT    NOT NULL CHECK (state IN ('open', 'finished', 'broken')), -- broken: the server ended it, for nobody
  commitment TEXT    NOT NULL, -- of the seed, which the replay tells
  began      INTEGER NOT NULL,
  ended      INTEGER,
  size       INTEGER,
  replay     BLOB,
  CHECK ((ended IS NULL) = (state = 'open')),
  CHECK ((replay IS NULL) = (state <> 'finished'))
) STRICT;
CREATE INDEX plays_person ON plays (person_id, began);
CREATE INDEX plays_open ON plays (state) WHERE state = 'open';

-- The bots of such games. A bot that sits at several seats has a row for each; only the first
-- counts in its record, as of rules.Records.
CREATE TABLE play_seats (
  play_id    TEXT    NOT NULL REFERENCES plays (id),
  seat       INTEGER NOT NULL,
  version_id INTEGER NOT NULL,
  bot_id     INTEGER NOT NULL,
  wins       INTEGER NOT NULL DEFAULT 0,
  draws      INTEGER NOT NULL DEFAULT 0,
  losses     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (play_id, seat),
  FOREIGN KEY (version_id, bot_id) REFERENCES versions (id, bot_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX play_seats_bot ON play_seats (bot_id, wins, draws, losses);
CREATE INDEX play_seats_version ON play_seats (version_id);
