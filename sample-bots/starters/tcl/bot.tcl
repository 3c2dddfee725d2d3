#!/usr/bin/env tclsh
# A complete timba bot: it plays all five games legally, with a hint of thought.
#
# The referee's lines come in on stdin, our answers go out on stdout, and a turn
# lists every legal move. So a bot only has to say how much it likes each of
# them: put your ideas into trick_score, podrida_score, tebes_score and
# teeko_score.

fconfigure stdout -buffering line ;# write at once: else lines wait in a buffer and we time out

set game {} ;# the `game` line as a dict: name, seat, players, seed and the game's options
set view {} ;# the latest `view` line as a dict: all that we may know of the position

proc get {key} { dict get $::view $key }

# A list of the view; an empty one is written "-".
proc items {key} {
    if {![dict exists $::view $key] || [get $key] eq "-"} { return {} }
    split [get $key] ,
}

# --- cards: "12c" is rank 12 of suit c ----------------------------------------

proc rank {card} { string range $card 0 end-1 }
proc suit {card} { string index $card end }
proc is_trump {card} { expr {[suit $card] eq [suit [get trump]]} } ;# of a card that shows the trumps

# --- Brisca and Tute ------------------------------------------------------------

set weak_to_strong {2 4 5 6 7 10 11 12 3 1}
set values {1 11 3 10 12 4 11 3 10 2} ;# rank and what it counts

proc power {card} { lsearch -exact $::weak_to_strong [rank $card] }
proc value {card} {
    expr {[dict exists $::values [rank $card]] ? [dict get $::values [rank $card]] : 0}
}

# Does a card, played later, take the trick from the card that wins it now?
proc beats {card winner} {
    if {[suit $card] eq [suit $winner]} { return [expr {[power $card] > [power $winner]}] }
    is_trump $card
}

# How sorry we are to play a card: for its points, its strength, and for any trump.
proc price {card} { expr {10 * [value $card] + [power $card] + 100 * [is_trump $card]} }

# Take a trick that has points as cheaply as we can, else throw the cheapest card.
proc trick_score {card} {
    set pot 0
    foreach later [items trick] {
        incr pot [value $later]
        if {![info exists winner] || [beats $later $winner]} { set winner $later }
    }
    if {$pot > 0 && [beats $card $winner]} { return [expr {500 - [price $card]}] }
    expr {-[price $card]}
}

# --- La Podrida -----------------------------------------------------------------

proc strength {card} {
    expr {([rank $card] == 1 ? 13 : [rank $card]) + 20 * [is_trump $card]}
}

proc podrida_score {move} {
    if {[scan $move bid:%d bid]} { ;# bid as many tricks as we hold aces, kings and high trumps
        set good 0
        foreach c [items hand] {
            incr good [expr {[rank $c] in {1 12} || [is_trump $c] && [rank $c] >= 10}]
        }
        return [expr {-abs($bid - $good)}]
    }
    set seat [dict get $::game seat]
    set wants_more [expr {[lindex [items tricks] $seat] < [lindex [items bids] $seat]}]
    expr {$wants_more ? [strength $move] : -[strength $move]}
}

# --- Tebes ------------------------------------------------------------------------

# Capture if we can, and go forward: up the board for white, down for black.
proc tebes_score {move} {
    lassign [split $move -] from to
    set up [expr {$from / [get size] - $to / [get size]}]
    set captures [expr {[string index [get pieces] $to] ne "."}]
    expr {([get me] eq "w" ? $up : -$up) + 10 * $captures}
}

# --- Teeko ------------------------------------------------------------------------

proc near {a b} { expr {abs($a / 5 - $b / 5) <= 1 && abs($a % 5 - $b % 5) <= 1} }

# Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which
# wins. Four in a line win as well.
proc teeko_score {move} {
    set squares [split $move -] ;# "12" places, "12-13" moves
    set from [lindex $squares 0]
    set to [lindex $squares end]
    set mine {}
    for {set s 0} {$s < 25} {incr s} {
        if {$s == $to || [string index [get board] $s] eq [get me] && $s != $from} { lappend mine $s }
    }
    set pairs 0
    set line [expr {[llength $mine] == 4}] ;# every step is the same, to a neighbour
    set step [expr {$line ? [lindex $mine 1] - [lindex $mine 0] : 0}]
    for {set i 1} {$i < [llength $mine]} {incr i} {
        set this [lindex $mine $i]
        set previous [lindex $mine $i-1]
        set line [expr {$line && [near $this $previous] && $this - $previous == $step}]
        foreach other [lrange $mine 0 $i-1] { incr pairs [near $this $other] }
    }
    expr {$line ? 6 : $pairs}
}

# --- the position -------------------------------------------------------------------

# By how much our side leads at cards: above 0 if we have more points on average.
proc lead {} {
    lassign {0 0 0 0 0} seat ours theirs us them
    set teams [expr {[dict exists $::game teams] && [dict get $::game teams] eq "yes"}]
    foreach points [items points] {
        set distance [expr {$seat - [dict get $::game seat]}]
        if {$distance == 0 || $teams && $distance % 2 == 0} {
            incr ours $points
            incr us
        } else {
            incr theirs $points
            incr them
        }
        incr seat
    }
    expr {$ours * $them - $theirs * $us}
}

proc more_pieces {} {
    set more 0
    foreach piece [split [get pieces] {}] {
        if {$piece ne "."} { incr more [expr {$piece eq [get me] ? 1 : -1}] }
    }
    return $more
}

# How many more pairs of our pieces touch than of theirs.
proc closer {} {
    set board [split [get board] {}]
    set more 0
    for {set a 0} {$a < 25} {incr a} {
        set piece [lindex $board $a]
        for {set b 0} {$b < $a} {incr b} {
            if {$piece ne "." && $piece eq [lindex $board $b] && [near $a $b]} {
                incr more [expr {$piece eq [get me] ? 1 : -1}]
            }
        }
    }
    return $more
}

# --- choosing -----------------------------------------------------------------------

# The score of a move; 0 in a game that we do not know, where any move will do.
proc score {move} {
    switch [dict get $::game name] {
        brisca - tute { trick_score $move }
        podrida { podrida_score $move }
        tebes { tebes_score $move }
        teeko { teeko_score $move }
        default { expr 0 }
    }
}

# How well the game stands for us: above 0 if we are winning.
proc position {} {
    switch [dict get $::game name] {
        brisca - tute - podrida { lead }
        tebes { more_pieces }
        teeko { closer }
        default { expr 0 }
    }
}

proc choose {ply moves} {
    set best {}
    foreach move $moves {
        # A better trump and a song are always worth having.
        if {[string match swap:* $move] || [string match sing:* $move]} { return $move }
        set s [score $move]
        if {$best eq {} || $s > $top} {
            set top $s
            set best {}
        }
        if {$s == $top} { lappend best $move }
    }
    puts "info score=[position]"
    set seed [expr {[dict exists $::game seed] ? [dict get $::game seed] : 0}]
    lindex $best [expr {($seed + $ply) % [llength $best]}] ;# a tie: any will do
}

# The words that are key=value, as a dict.
proc pairs {words} {
    set result {}
    foreach word $words {
        if {[regexp {^([^=]+)=(.*)$} $word -> key text]} { dict set result $key $text }
    }
    return $result
}

# A turn is: turn PLY MILLISECONDS MOVE... Lines that are not listed here (event, fault,
# end, verbs to come) a bot may ignore: the view says it all.
while {[gets stdin line] >= 0} {
    set words [split $line]
    switch [lindex $words 0] {
        timba { puts "ready my-tcl-bot 1.0" }
        game {
            set game [pairs $words]
            dict set game name [lindex $words 1]
        }
        view { set view [pairs $words] }
        turn { puts "move [choose [lindex $words 1] [lrange $words 3 end]]" }
        bye { break }
    }
}
