-- The games of two opponents, and in which matches a bot had faults.

-- +goose Up
ALTER TABLE pairs ADD COLUMN wins INTEGER NOT NULL DEFAULT 0; -- games in which a was ahead of b
ALTER TABLE pairs ADD COLUMN draws INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pairs ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;

-- Partners sit at every other seat of the games with teams.
INSERT INTO pairs (ladder_id, a, b, matches, deals, score, squares, wins, draws, losses)
SELECT x.ladder_id, x.version_id, y.version_id, 0, 0, 0, 0, sum(x.place < y.place), sum(x.place = y.place), sum(x.place > y.place)
FROM (
  SELECT games.ladder_id, games.id AS game_id, match_slots.version_id, min(game_seats."rank") AS place,
    CASE json_extract(matches.options, '$.teams') WHEN 'yes' THEN min(game_seats.seat) % 2 ELSE min(game_seats.seat) END AS side
  FROM games
  JOIN matches ON matches.id = games.match_id
  JOIN game_seats ON game_seats.game_id = games.id
  JOIN match_slots ON match_slots.match_id = games.match_id AND match_slots.slot = game_seats.slot
  WHERE games.ladder_id IS NOT NULL GROUP BY games.id, game_seats.slot
) AS x JOIN (
  SELECT games.ladder_id, games.id AS game_id, match_slots.version_id, min(game_seats."rank") AS place,
    CASE json_extract(matches.options, '$.teams') WHEN 'yes' THEN min(game_seats.seat) % 2 ELSE min(game_seats.seat) END AS side
  FROM games
  JOIN matches ON matches.id = games.match_id
  JOIN game_seats ON game_seats.game_id = games.id
  JOIN match_slots ON match_slots.match_id = games.match_id AND match_slots.slot = game_seats.slot
  WHERE games.ladder_id IS NOT NULL GROUP BY games.id, game_seats.slot
) AS y ON y.game_id = x.game_id AND y.version_id > x.version_id AND y.side <> x.side
WHERE true GROUP BY x.ladder_id, x.version_id, y.version_id
ON CONFLICT (ladder_id, a, b) DO UPDATE SET wins = excluded.wins, draws = excluded.draws, losses = excluded.losses;

ALTER TABLE match_slots ADD COLUMN faulty INTEGER NOT NULL DEFAULT 0 CHECK (faulty IN (0, 1)); -- has a game that was forfeited there
UPDATE match_slots SET faulty = 1 WHERE EXISTS (
  SELECT 1 FROM games JOIN game_seats ON game_seats.game_id = games.id
  WHERE games.match_id = match_slots.match_id AND game_seats.slot = match_slots.slot AND game_seats.fault <> ''
);
CREATE INDEX match_slots_faulty ON match_slots (bot_id, match_id) WHERE faulty = 1;
CREATE INDEX versions_language ON versions (language);
