#!/usr/bin/env bash
# A complete timba bot: it plays all five games legally, with a hint of thought.
#
# The referee's lines come in on stdin, our answers go out on stdout, and a turn
# lists every legal move. So a bot only has to say how much it likes each of
# them: put your ideas into trick_score, podrida_score, tebes_score and
# teeko_score. Each leaves its answer in the variable score: that is quicker
# than printing it into $(...), which starts a process.

set -f          # no file names for * and ?
declare -A game # the `game` line: name, seat, players, seed and the game's options
declare -A view # the latest `view` line: all that we may know of the position

# Cards by rank: how strong they are in Brisca and Tute, and what they count.
power=(0 9 0 8 1 2 3 4 0 0 5 6 7)
value=(0 11 0 10 0 0 0 0 0 0 2 3 4)

# items KEY [SEPARATOR]: sets the array list; an empty list is written "-".
items() {
  list=()
  [[ ${view[$1]:--} == - ]] || IFS=${2:-,} read -ra list <<<"${view[$1]}"
}

# card 12c: sets rank, suit and trump (1 or 0).
card() {
  rank=${1%?} suit=${1: -1} trump=0
  [[ $suit != "${view[trump]: -1}" ]] || trump=1 # the view has the card that shows the trumps
}

# beats CARD WINNER: does the card, played later, take the trick from the winner so far?
beats() {
  card "$1"
  if [[ $suit == "${2: -1}" ]]; then ((power[rank] > power[${2%?}])); else ((trump)); fi
}

# Brisca and Tute: take a trick that has points as cheaply as we can, else throw
# the cheapest card.
trick_score() {
  local pot=0 winner='' c
  items trick
  for c in "${list[@]}"; do
    ((pot += value[${c%?}]))
    if [[ -z $winner ]] || beats "$c" "$winner"; then winner=$c; fi
  done
  card "$1"
  ((score = -(10 * value[rank] + power[rank] + 100 * trump)))
  if ((pot > 0)) && beats "$1" "$winner"; then ((score += 500)); fi
}

podrida_score() {
  local good=0 c tricks
  if [[ $1 == bid:* ]]; then # bid as many tricks as we hold aces, kings and high trumps
    items hand
    for c in "${list[@]}"; do
      card "$c"
      ((good += rank == 1 || rank == 12 || trump && rank >= 10))
    done
    ((score = ${1#bid:} - good, score = score > 0 ? -score : score))
    return
  fi
  items tricks
  tricks=("${list[@]}")
  items bids
  card "$1"
  ((score = (rank == 1 ? 13 : rank) + 20 * trump))
  ((tricks[game[seat]] < list[game[seat]])) || ((score = -score))
}

# Tebes: capture if we can, and go forward: up the board for white, down for black.
tebes_score() {
  local from=${1%-*} to=${1#*-} size=${view[size]}
  ((score = from / size - to / size))
  [[ ${view[me]} == w ]] || ((score = -score))
  [[ ${view[pieces]:to:1} == . ]] || ((score += 10))
}

near() { # near A B: do two squares of the 5x5 board touch?
  local rows=$(($1 / 5 - $2 / 5)) columns=$(($1 % 5 - $2 % 5))
  ((rows * rows <= 1 && columns * columns <= 1))
}

# Teeko: count the pairs of our pieces that touch: all six pairs do in a 2x2
# square, which wins. Four in a line win as well.
teeko_score() {
  local from=${1%-*} to=${1#*-} mine=() s i j # "12" places, "12-13" moves
  for ((s = 0; s < 25; s++)); do
    if ((s == to)) || [[ ${view[board]:s:1} == "${view[me]}" && $s != "$from" ]]; then mine+=("$s"); fi
  done
  score=0
  for ((i = 1; i < ${#mine[@]}; i++)); do
    for ((j = 0; j < i; j++)); do
      if near "${mine[i]}" "${mine[j]}"; then ((score++)); fi
    done
  done
  ((${#mine[@]} == 4)) || return
  for ((i = 1; i < 4; i++)); do # a line: every step is the same, to a neighbour
    ((mine[i] - mine[i - 1] == mine[1] - mine[0])) && near "${mine[i]}" "${mine[i - 1]}" || return
  done
  score=6
}

# position: sets score to how well the game stands for us, above 0 if we are winning.
position() {
  score=0
  case ${game[name]} in
    brisca | tute | podrida) lead ;;
    tebes) more_pieces ;;
    teeko) closer ;;
  esac
}

# At cards: by how much our side leads, above 0 if we have more points on average.
lead() {
  local seat distance ours=0 theirs=0 us=0 them=0
  items points
  for ((seat = 0; seat < ${#list[@]}; seat++)); do
    distance=$((seat - game[seat]))
    if ((distance == 0)) || [[ ${game[teams]} == yes && $((distance % 2)) == 0 ]]; then
      ((ours += list[seat], us += 1))
    else
      ((theirs += list[seat], them += 1))
    fi
  done
  ((score = ours * them - theirs * us))
}

more_pieces() {
  local all=${view[pieces]//./}
  local mine=${all//[!${view[me]}]/}
  ((score = 2 * ${#mine} - ${#all}))
}

# How many more pairs of our pieces touch than of theirs.
closer() {
  local board=${view[board]} a b
  for ((a = 0; a < 25; a++)); do
    for ((b = 0; b < a; b++)); do
      [[ ${board:a:1} != . && ${board:a:1} == "${board:b:1}" ]] && near "$a" "$b" || continue
      if [[ ${board:a:1} == "${view[me]}" ]]; then ((score++)); else ((score--)); fi
    done
  done
}

# choose PLY MOVE...: prints the answer. Bash does not buffer: no flush is needed.
choose() {
  local ply=$1 move top best=()
  shift
  for move; do
    case $move in swap:* | sing:*) echo "move $move"; return ;; esac
    case ${game[name]} in
      brisca | tute) trick_score "$move" ;;
      podrida | tebes | teeko) "${game[name]}_score" "$move" ;;
      *) score=0 ;; # a game that we do not know: any move
    esac
    if [[ -z $top ]] || ((score > top)); then top=$score best=(); fi
    if ((score == top)); then best+=("$move"); fi
  done
  position
  echo "info score=$score"
  echo "move ${best[(${game[seed]:-0} + ply) % ${#best[@]}]}" # a tie: any will do
}

while read -ra words; do
  case ${words[0]} in
    timba) echo "ready my-bash-bot 1.0" ;;
    game)
      game=([name]=${words[1]})
      for word in "${words[@]:2}"; do game[${word%%=*}]=${word#*=}; done
      ;;
    view)
      view=()
      for word in "${words[@]:1}"; do view[${word%%=*}]=${word#*=}; done
      ;;
    turn) choose "${words[1]}" "${words[@]:3}" ;; # turn PLY MILLISECONDS MOVE...
    bye) exit ;;
    # Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
  esac
done
