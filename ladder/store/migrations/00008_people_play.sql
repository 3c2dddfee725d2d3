-- Games of people: what lists of them show, and how many an address without an account has begun.

-- +goose Up
ALTER TABLE plays ADD COLUMN result TEXT CHECK (result IN ('win', 'draw', 'loss')); -- of the person; NULL: none, or from before this column

ALTER TABLE play_seats ADD COLUMN ended INTEGER; -- of a seat that counts in the bot's record
UPDATE play_seats SET ended = (SELECT plays.ended FROM plays WHERE plays.id = play_seats.play_id) WHERE wins + draws + losses > 0;
CREATE INDEX play_seats_ended ON play_seats (bot_id, ended) WHERE ended IS NOT NULL;

-- The games of people without an account, for a day.
CREATE TABLE guest_plays (
  address TEXT    NOT NULL,
  began   INTEGER NOT NULL
) STRICT;
CREATE INDEX guest_plays_address ON guest_plays (address, began);
CREATE INDEX guest_plays_began ON guest_plays (began);

CREATE INDEX people_blocked ON people (blocked) WHERE blocked > 0;
