#!/usr/bin/env ruby
# frozen_string_literal: true

# A complete timba bot: it plays all five games legally, with a hint of thought.
#
# The referee's lines come in on stdin, our answers go out on stdout, and a turn
# lists every legal move. So a bot only has to say how much it likes each of
# them: put your ideas into trick_score, podrida_score, tebes_score and
# teeko_score.

$stdout.sync = true # write at once: else the line waits in a buffer and we time out

NAME = 'my-ruby-bot'
VERSION = '1.0'

# A card such as "12c": rank 12 of suit c.
Card = Struct.new(:rank, :suit) do
  def self.of(text) = new(text.to_i, text[-1])
end

class Bot
  # How strong a rank is in Brisca and Tute, and what it counts there.
  WEAK_TO_STRONG = [2, 4, 5, 6, 7, 10, 11, 12, 3, 1].freeze
  VALUES = Hash.new(0).merge(1 => 11, 3 => 10, 12 => 4, 11 => 3, 10 => 2).freeze

  SCORES = { 'brisca' => :trick_score, 'tute' => :trick_score, 'podrida' => :podrida_score,
             'tebes' => :tebes_score, 'teeko' => :teeko_score }.freeze

  POSITIONS = { 'brisca' => :lead, 'tute' => :lead, 'podrida' => :lead, 'tebes' => :more_pieces,
                'teeko' => :closer }.freeze

  def initialize
    @game = {} # the `game` line: name, seat, players, seed and the game's options
    @view = {} # the latest `view` line: all that we may know of the position
  end

  # A list of the view; an empty one is written "-".
  def items(key)
    text = @view.fetch(key, '-')
    text == '-' ? [] : text.split(',')
  end

  def cards(key) = items(key).map { |text| Card.of(text) }

  def trump?(card) = card.suit == @view['trump'][-1] # the view has the card that shows the trumps

  # --- Brisca and Tute ---------------------------------------------------------

  def power(card) = WEAK_TO_STRONG.index(card.rank)

  def value(card) = VALUES[card.rank]

  # Does a card, played later, take the trick from the card that wins it now?
  def beats?(card, winner)
    card.suit == winner.suit ? power(card) > power(winner) : trump?(card)
  end

  # How sorry we are to play a card: for its points, its strength, and for any trump.
  def price(card) = 10 * value(card) + power(card) + (trump?(card) ? 100 : 0)

  # Take a trick that has points as cheaply as we can, else throw the cheapest card.
  def trick_score(move)
    card = Card.of(move)
    trick = cards('trick')
    winner = trick.reduce { |best, later| beats?(later, best) ? later : best }
    take = trick.sum { |c| value(c) }.positive? && beats?(card, winner)
    take ? 500 - price(card) : -price(card)
  end

  # --- La Podrida --------------------------------------------------------------

  def strength(card) = (card.rank == 1 ? 13 : card.rank) + (trump?(card) ? 20 : 0)

  def podrida_score(move)
    if move.start_with?('bid:') # bid as many tricks as we hold aces, kings and high trumps
      good = cards('hand').count { |c| [1, 12].include?(c.rank) || (trump?(c) && c.rank >= 10) }
      return -(move[4..].to_i - good).abs
    end
    seat = @game['seat'].to_i
    wants_more = items('tricks')[seat].to_i < items('bids')[seat].to_i
    wants_more ? strength(Card.of(move)) : -strength(Card.of(move))
  end

  # --- Tebes -------------------------------------------------------------------

  # Capture if we can, and go forward: up the board for white, down for black.
  def tebes_score(move)
    from, to = move.split('-').map(&:to_i)
    size = @view['size'].to_i
    up = from / size - to / size
    (@view['me'] == 'w' ? up : -up) + (@view['pieces'][to] == '.' ? 0 : 10)
  end

  # --- Teeko -------------------------------------------------------------------

  def near?(one, other)
    (one / 5 - other / 5).abs <= 1 && (one % 5 - other % 5).abs <= 1
  end

  # Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which wins.
  def teeko_score(move)
    squares = move.split('-').map(&:to_i) # "12" places, "12-13" moves
    from = squares.first
    to = squares.last
    mine = (0...25).select { |s| s == to || (@view['board'][s] == @view['me'] && s != from) }
    steps = mine.each_cons(2)
    line = steps.all? { |a, b| near?(a, b) && b - a == mine[1] - mine[0] }
    return 6 if mine.size == 4 && line # four in a line wins as well

    mine.combination(2).count { |a, b| near?(a, b) }
  end

  # --- the position ------------------------------------------------------------

  # By how much our side leads at cards: above 0 if we have more points on average.
  def lead
    seats = items('points').map(&:to_i).each_with_index
    ours, theirs = seats.partition do |_, seat|
      distance = seat - @game['seat'].to_i
      distance.zero? || (@game['teams'] == 'yes' && distance.even?)
    end
    ours.sum(&:first) * theirs.size - theirs.sum(&:first) * ours.size
  end

  def more_pieces = @view['pieces'].delete('.').chars.sum { |piece| piece == @view['me'] ? 1 : -1 }

  # How many more pairs of our pieces touch than of theirs.
  def closer
    board = @view['board']
    pairs = (0...25).to_a.combination(2).select { |a, b| board[a] != '.' && board[a] == board[b] && near?(a, b) }
    pairs.sum { |a, _| board[a] == @view['me'] ? 1 : -1 }
  end

  # --- choosing ----------------------------------------------------------------

  def choose(ply, moves)
    gift = moves.find { |move| move.start_with?('swap:', 'sing:') }
    return gift if gift # a better trump and a song are always worth having

    score = SCORES[@game['name']] # nil for a game that we do not know: any move
    scores = moves.map { |move| score ? send(score, move) : 0 }
    best = moves.select.with_index { |_, i| scores[i] == scores.max }
    position = POSITIONS[@game['name']]
    puts "info score=#{send(position)}" if position # how well the game stands: above 0 if we are winning
    best[(@game['seed'].to_i + ply) % best.size] # a tie: any will do
  end

  # The words that are key=value.
  def pairs(words) = words.map { |word| word.split('=', 2) }.select { |pair| pair.size == 2 }.to_h

  def run
    while (line = $stdin.gets)
      verb, *words = line.split
      case verb
      when 'timba' then puts "ready #{NAME} #{VERSION}"
      when 'game' then @game = pairs(words).merge('name' => words[0])
      when 'view' then @view = pairs(words)
      when 'turn' # turn PLY MILLISECONDS MOVE...
        puts "move #{choose(words[0].to_i, words[2..])}"
      when 'bye' then break
      end # Anything else (event, fault, end, verbs to come) may be ignored: the view says it all.
    end
  end
end

Bot.new.run
