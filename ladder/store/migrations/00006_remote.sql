-- +goose Up

-- A remote version is a program on its owner's machine: it plays while it is connected.
ALTER TABLE versions ADD COLUMN remote INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1));
