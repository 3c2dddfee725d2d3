-- Matches on many machines.

-- +goose Up
ALTER TABLE attempts ADD COLUMN machine TEXT NOT NULL DEFAULT ''; -- that plays it; '': of before this column
ALTER TABLE versions ADD COLUMN unplayable TEXT NOT NULL DEFAULT ''; -- what no machine has that the version needs; '': it can be played
