#!/usr/bin/env perl
# A complete timba bot: it plays all five games legally, with a hint of thought.
#
# The referee's lines come in on stdin, our answers go out on stdout, and a turn
# lists every legal move. So a bot only has to say how much it likes each of
# them: put your ideas into trick_score, podrida_score, tebes_score and
# teeko_score.
use strict;
use warnings;
use List::Util qw(first max sum0);

$| = 1; # flush after every print: else the line waits in a buffer and we time out

my ($name, $version) = ('my-perl-bot', '1.0');
my %game;    # the `game` line: name, seat, players, seed and the game's options
my %view;    # the latest `view` line: all that we may know of the position
my $ply = 0; # how many moves have been made in this game

# A list of the view; an empty one is written "-".
sub items {
    my $text = $view{$_[0]} // '-';
    return $text eq '-' ? () : split /,/, $text;
}

# --- cards: "12c" is rank 12 of suit c ---------------------------------------

sub rank { return substr $_[0], 0, -1 }
sub suit { return substr $_[0], -1 }
sub is_trump { return suit($_[0]) eq suit($view{trump}) } # the view has the card that shows the trumps

# --- Brisca and Tute -----------------------------------------------------------

my @weak_to_strong = (2, 4, 5, 6, 7, 10, 11, 12, 3, 1);
my %power = map { $weak_to_strong[$_] => $_ } 0 .. $#weak_to_strong;
my %value = (1 => 11, 3 => 10, 12 => 4, 11 => 3, 10 => 2);

sub value { return $value{rank($_[0])} // 0 }

# Does a card, played later, take the trick from the card that wins it now?
sub beats {
    my ($card, $winner) = @_;
    return $power{rank($card)} > $power{rank($winner)} if suit($card) eq suit($winner);
    return is_trump($card);
}

# How sorry we are to play a card: for its points, its strength, and for any trump.
sub price {
    my ($card) = @_;
    return 10 * value($card) + $power{rank($card)} + (is_trump($card) ? 100 : 0);
}

# Take a trick that has points as cheaply as we can, else throw the cheapest card.
sub trick_score {
    my ($card) = @_;
    my ($winner, @rest) = my @trick = items('trick');
    for my $later (@rest) {
        $winner = $later if beats($later, $winner);
    }
    my $pot = sum0(map { value($_) } @trick);
    return $pot > 0 && beats($card, $winner) ? 500 - price($card) : -price($card);
}

# --- La Podrida ----------------------------------------------------------------

sub strength {
    my ($card) = @_;
    return (rank($card) == 1 ? 13 : rank($card)) + (is_trump($card) ? 20 : 0);
}

sub podrida_score {
    my ($move) = @_;
    if ($move =~ /^bid:(\d+)/) { # bid as many tricks as we hold aces, kings and high trumps
        my $bid = $1;
        my $good = grep { rank($_) == 1 || rank($_) == 12 || is_trump($_) && rank($_) >= 10 } items('hand');
        return -abs($bid - $good);
    }
    my $wants_more = (items('tricks'))[$game{seat}] < (items('bids'))[$game{seat}];
    return $wants_more ? strength($move) : -strength($move);
}

# --- Tebes -----------------------------------------------------------------------

# Capture if we can, and go forward: up the board for white, down for black.
sub tebes_score {
    my ($from, $to) = split /-/, $_[0];
    my $up = int($from / $view{size}) - int($to / $view{size});
    my $captures = substr($view{pieces}, $to, 1) ne '.';
    return ($view{me} eq 'w' ? $up : -$up) + ($captures ? 10 : 0);
}

# --- Teeko -----------------------------------------------------------------------

sub near {
    my ($a5, $b5) = @_;
    return abs(int($a5 / 5) - int($b5 / 5)) <= 1 && abs($a5 % 5 - $b5 % 5) <= 1;
}

# Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which wins.
sub teeko_score {
    my ($from, $to) = (split(/-/, $_[0]), $_[0]); # "12" places, "12-13" moves
    my @mine = grep { $_ == $to || substr($view{board}, $_, 1) eq $view{me} && $_ != $from } 0 .. 24;
    my $broken = first { # four in a line, all steps the same and to a neighbour, win as well
        $mine[$_] - $mine[$_ - 1] != $mine[1] - $mine[0] || !near($mine[$_], $mine[$_ - 1])
    } 1 .. $#mine;
    return 6 if @mine == 4 && !defined $broken;
    return sum0(map { my $s = $_; scalar grep { $_ < $s && near($_, $s) } @mine } @mine);
}

# --- the position ------------------------------------------------------------------

# By how much our side leads at cards: above 0 if we have more points on average.
sub lead {
    my @points = items('points');
    my ($ours, $theirs, $us, $them) = (0, 0, 0, 0);
    for my $seat (0 .. $#points) {
        my $distance = $seat - $game{seat};
        if ($distance == 0 || ($game{teams} // '') eq 'yes' && $distance % 2 == 0) {
            $ours += $points[$seat];
            $us++;
        } else {
            $theirs += $points[$seat];
            $them++;
        }
    }
    return $ours * $them - $theirs * $us;
}

sub more_pieces { return sum0(map { $_ eq $view{me} ? 1 : -1 } $view{pieces} =~ /[bw]/g) }

# How many more pairs of our pieces touch than of theirs.
sub closer {
    my @board = split //, $view{board};
    my $more = 0;
    for my $one (0 .. 24) {
        for my $other (0 .. $one - 1) {
            next if $board[$one] eq '.' || $board[$one] ne $board[$other] || !near($one, $other);
            $more += $board[$one] eq $view{me} ? 1 : -1;
        }
    }
    return $more;
}

# --- choosing ----------------------------------------------------------------------

my %scores = (brisca => \&trick_score, tute => \&trick_score, podrida => \&podrida_score,
    tebes => \&tebes_score, teeko => \&teeko_score);
my %positions = (brisca => \&lead, tute => \&lead, podrida => \&lead, tebes => \&more_pieces, teeko => \&closer);

sub choose {
    my @moves = @_;
    my $gift = first { /^(swap|sing):/ } @moves;
    return $gift if $gift; # a better trump and a song are always worth having
    my $score = $scores{$game{name}} // sub { 0 };
    my %score_of = map { $_ => $score->($_) } @moves;
    my $top = max(values %score_of);
    my @best = grep { $score_of{$_} == $top } @moves;
    my $position = $positions{$game{name}} // sub { 0 };
    print 'info score=', $position->(), "\n"; # how well the game stands for us: above 0 if we are winning
    return $best[(($game{seed} // 0) + $ply) % @best]; # a tie: any will do
}

# The words that are key=value.
sub pairs { return map { /^([^=]+)=(.*)$/ } @_ }

while (my $line = <STDIN>) {
    my ($verb, @words) = split ' ', $line;
    $verb //= '';
    if ($verb eq 'timba') {
        print "ready $name $version\n";
    } elsif ($verb eq 'game') {
        %game = (pairs(@words), name => $words[0]);
    } elsif ($verb eq 'view') {
        %view = pairs(@words);
    } elsif ($verb eq 'turn') { # turn PLY MILLISECONDS MOVE...
        ($ply, undef, my @moves) = @words;
        print 'move ', choose(@moves), "\n";
    } elsif ($verb eq 'bye') {
        last;
    } # Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
}
