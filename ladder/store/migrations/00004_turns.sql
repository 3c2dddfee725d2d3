-- +goose Up

-- When a submission of theirs was last begun: those who have waited longest come first.
ALTER TABLE people ADD COLUMN served INTEGER;

-- Since when the owner keeps a bot from playing.
ALTER TABLE bots ADD COLUMN withdrawn INTEGER;
