-- The formula that the ratings of a ladder are computed by. That of ladders from before this
-- is the one that there was.

-- +goose Up
ALTER TABLE ladders ADD COLUMN formula TEXT NOT NULL DEFAULT '{"rule":1,"start":1000,"anchor":1000,"newcomer":30,"forget":0.0003}' CHECK (json_valid(formula));

CREATE TABLE rerates (
  id        INTEGER PRIMARY KEY,
  ladder_id INTEGER NOT NULL REFERENCES ladders (id),
  created   INTEGER NOT NULL,
  matches   INTEGER NOT NULL, -- that the ladder had finished
  before    TEXT    NOT NULL CHECK (json_valid(before)), -- the formula
  after     TEXT    NOT NULL CHECK (json_valid(after))
) STRICT;
CREATE INDEX rerates_ladder ON rerates (ladder_id);
