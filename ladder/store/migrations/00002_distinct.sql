-- Deals that repeat games which were played before do not count. Matches rated
-- before this have NULL: all of their deals count, and their games are not known.

-- +goose Up
ALTER TABLE matches ADD COLUMN distinct_deals INTEGER CHECK (distinct_deals BETWEEN 0 AND deals);
ALTER TABLE games ADD COLUMN fingerprint BLOB CHECK (length(fingerprint) = 16);
CREATE INDEX games_fingerprint ON games (ladder_id, fingerprint) WHERE fingerprint IS NOT NULL;
