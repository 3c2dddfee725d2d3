-- Standings are ordered by the fit, and before the first one by the Elo.

-- +goose Up
DROP INDEX entries_elo;
CREATE INDEX entries_rating ON entries (ladder_id, active, coalesce(fit, elo));
