#!/usr/bin/env lua5.4
-- A complete timba bot: it plays all five games legally, with a hint of thought.
--
-- The referee's lines come in on stdin, our answers go out on stdout, and a turn
-- lists every legal move. So a bot only has to say how much it likes each of
-- them: put your ideas into trick_score, podrida_score, tebes_score and
-- teeko_score. It needs Lua 5.3 or later, for whole numbers and //.

io.stdout:setvbuf("line") -- write each line at once: else it waits in a buffer and we time out

local NAME, VERSION = "my-lua-bot", "1.0"

local game = {} -- the `game` line: name, seat, players, seed and the game's options
local view = {} -- the latest `view` line: all that we may know of the position

-- A list of the view; an empty one is written "-".
local function items(key)
  local list = {}
  if view[key] ~= "-" then
    for item in (view[key] or ""):gmatch("[^,]+") do list[#list + 1] = item end
  end
  return list
end

-- --- cards: "12c" is rank 12 of suit c -----------------------------------------

local function rank(card) return tonumber(card:sub(1, -2)) end
local function suit(card) return card:sub(-1) end
local function is_trump(card) return suit(card) == suit(view.trump) end -- of a card that shows the trumps

-- --- Brisca and Tute -----------------------------------------------------------

-- By rank: how strong a card is, and what it counts.
local POWER = {[2] = 0, [4] = 1, [5] = 2, [6] = 3, [7] = 4, [10] = 5, [11] = 6, [12] = 7, [3] = 8, [1] = 9}
local VALUE = {[1] = 11, [3] = 10, [12] = 4, [11] = 3, [10] = 2}

local function power(card) return POWER[rank(card)] end
local function value(card) return VALUE[rank(card)] or 0 end

-- Does a card, played later, take the trick from the card that wins it now?
local function beats(card, winner)
  if suit(card) == suit(winner) then return power(card) > power(winner) end
  return is_trump(card)
end

-- How sorry we are to play a card: for its points, its strength, and for any trump.
local function price(card)
  return 10 * value(card) + power(card) + (is_trump(card) and 100 or 0)
end

-- Take a trick that has points as cheaply as we can, else throw the cheapest card.
local function trick_score(card)
  local winner, pot = nil, 0
  for _, later in ipairs(items("trick")) do
    pot = pot + value(later)
    if not winner or beats(later, winner) then winner = later end
  end
  if pot > 0 and beats(card, winner) then return 500 - price(card) end
  return -price(card)
end

-- --- La Podrida ----------------------------------------------------------------

local function strength(card)
  return (rank(card) == 1 and 13 or rank(card)) + (is_trump(card) and 20 or 0)
end

local function podrida_score(move)
  local bid = move:match("^bid:(%d+)")
  if bid then -- bid as many tricks as we hold aces, kings and high trumps
    local good = 0
    for _, c in ipairs(items("hand")) do
      if rank(c) == 1 or rank(c) == 12 or is_trump(c) and rank(c) >= 10 then good = good + 1 end
    end
    return -math.abs(tonumber(bid) - good)
  end
  local seat = tonumber(game.seat) + 1 -- Lua counts from 1
  local wants_more = tonumber(items("tricks")[seat]) < tonumber(items("bids")[seat])
  return wants_more and strength(move) or -strength(move)
end

-- --- Tebes -----------------------------------------------------------------------

-- The character of a square, which are counted from 0.
local function at(board, square) return board:sub(square + 1, square + 1) end

-- Capture if we can, and go forward: up the board for white, down for black.
local function tebes_score(move)
  local from, to = move:match("(%d+)-(%d+)")
  local size = tonumber(view.size)
  from, to = tonumber(from), tonumber(to)
  local up = from // size - to // size
  return (view.me == "w" and up or -up) + (at(view.pieces, to) ~= "." and 10 or 0)
end

-- --- Teeko -----------------------------------------------------------------------

local function near(a, b)
  return math.abs(a // 5 - b // 5) <= 1 and math.abs(a % 5 - b % 5) <= 1
end

-- Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which
-- wins. Four in a line win as well.
local function teeko_score(move)
  local from, to = move:match("(%d+)%-?(%d*)") -- "12" places, "12-13" moves
  from, to = tonumber(from), tonumber(to ~= "" and to or from)
  local mine = {}
  for s = 0, 24 do
    if s == to or at(view.board, s) == view.me and s ~= from then mine[#mine + 1] = s end
  end
  local pairs_near, line = 0, #mine == 4 -- a line: every step is the same, to a neighbour
  for i = 2, #mine do
    line = line and near(mine[i], mine[i - 1]) and mine[i] - mine[i - 1] == mine[2] - mine[1]
    for j = 1, i - 1 do
      if near(mine[i], mine[j]) then pairs_near = pairs_near + 1 end
    end
  end
  return line and 6 or pairs_near
end

-- --- the position ------------------------------------------------------------------

-- By how much our side leads at cards: above 0 if we have more points on average.
local function lead()
  local ours, theirs, us, them = 0, 0, 0, 0
  for i, points in ipairs(items("points")) do
    local distance = i - 1 - tonumber(game.seat)
    if distance == 0 or game.teams == "yes" and distance % 2 == 0 then
      ours, us = ours + tonumber(points), us + 1
    else
      theirs, them = theirs + tonumber(points), them + 1
    end
  end
  return ours * them - theirs * us
end

local function more_pieces()
  local more = 0
  for piece in view.pieces:gmatch("[bw]") do more = more + (piece == view.me and 1 or -1) end
  return more
end

-- How many more pairs of our pieces touch than of theirs.
local function closer()
  local more = 0
  for a = 0, 24 do
    for b = 0, a - 1 do
      local piece = at(view.board, a)
      if piece ~= "." and piece == at(view.board, b) and near(a, b) then
        more = more + (piece == view.me and 1 or -1)
      end
    end
  end
  return more
end

-- --- choosing ----------------------------------------------------------------------

local SCORES = {brisca = trick_score, tute = trick_score, podrida = podrida_score,
                tebes = tebes_score, teeko = teeko_score}
local POSITIONS = {brisca = lead, tute = lead, podrida = lead, tebes = more_pieces, teeko = closer}

local function choose(ply, moves)
  local score = SCORES[game.name] or function() return 0 end
  local best, top = {}, nil
  for _, move in ipairs(moves) do
    if move:find("^swap:") or move:find("^sing:") then
      return move -- a better trump and a song are always worth having
    end
    local s = score(move)
    if not top or s > top then best, top = {}, s end
    if s == top then best[#best + 1] = move end
  end
  local position = POSITIONS[game.name] or function() return 0 end
  print("info score=" .. position()) -- how well the game stands for us: above 0 if we are winning
  return best[(tonumber(game.seed or 0) + ply) % #best + 1] -- a tie: any will do
end

for line in io.lines() do
  local words, values = {}, {} -- the line's words; those that are key=value
  for word in line:gmatch("%S+") do
    words[#words + 1] = word
    local key, text = word:match("^([^=]+)=(.*)$")
    if key then values[key] = text end
  end
  local verb = words[1]
  if verb == "timba" then
    print("ready " .. NAME .. " " .. VERSION)
  elseif verb == "game" then
    game = values
    game.name = words[2]
  elseif verb == "view" then
    view = values
  elseif verb == "turn" then -- turn PLY MILLISECONDS MOVE...
    print("move " .. choose(tonumber(words[2]), table.move(words, 4, #words, 1, {})))
  elseif verb == "bye" then
    break
  end -- Anything else (event, fault, end, verbs to come) may be ignored: the view says it all.
end
