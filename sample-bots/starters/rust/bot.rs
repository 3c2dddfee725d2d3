//! A complete timba bot: it plays all five games legally, with a hint of thought.
//!
//! The referee's lines come in on stdin, our answers go out on stdout, and a turn
//! lists every legal move. So a bot only has to say how much it likes each of
//! them: put your ideas into trick_score, podrida_score, tebes_score and
//! teeko_score.
use std::collections::HashMap;
use std::io;

const NAME: &str = "my-rust-bot";
const VERSION: &str = "1.0";

#[derive(Default)]
struct Bot {
    name: String,                  // the game being played
    game: HashMap<String, String>, // the `game` line: seat, players, seed and the game's options
    view: HashMap<String, String>, // the latest `view` line: all that we may know of the position
}

#[derive(Clone, Copy)]
struct Card {
    rank: usize,
    suit: char,
}

/// "12c" is rank 12 of suit c.
fn card(text: &str) -> Card {
    let (rank, suit) = text.split_at(text.len() - 1);
    Card { rank: rank.parse().unwrap(), suit: suit.chars().next().unwrap() }
}

/// How strong a rank is in Brisca and Tute, and what it counts there.
const POWER: [i32; 13] = [0, 9, 0, 8, 1, 2, 3, 4, 0, 0, 5, 6, 7];
const VALUE: [i32; 13] = [0, 11, 0, 10, 0, 0, 0, 0, 0, 0, 2, 3, 4];

/// Do two squares of the 5x5 board touch?
fn near(a: i32, b: i32) -> bool {
    (a / 5 - b / 5).abs() <= 1 && (a % 5 - b % 5).abs() <= 1
}

fn number(text: &str) -> i32 {
    text.parse().unwrap_or(0)
}

impl Bot {
    /// A value of the view; one that is not there is like an empty list.
    fn get(&self, key: &str) -> &str {
        self.view.get(key).map_or("-", String::as_str)
    }

    /// A list of the view; an empty one is written "-".
    fn items(&self, key: &str) -> Vec<&str> {
        match self.get(key) {
            "-" => Vec::new(),
            text => text.split(',').collect(),
        }
    }

    fn cards(&self, key: &str) -> Vec<Card> {
        self.items(key).into_iter().map(card).collect()
    }

    fn is_trump(&self, c: Card) -> bool {
        self.get("trump").ends_with(c.suit) // the view has the card that shows the trumps
    }

    // --- Brisca and Tute -----------------------------------------------------

    /// Does a card, played later, take the trick from the card that wins it now?
    fn beats(&self, c: Card, winner: Card) -> bool {
        if c.suit == winner.suit {
            POWER[c.rank] > POWER[winner.rank]
        } else {
            self.is_trump(c)
        }
    }

    /// How sorry we are to play a card: for its points, its strength, and for any trump.
    fn price(&self, c: Card) -> i32 {
        10 * VALUE[c.rank] + POWER[c.rank] + if self.is_trump(c) { 100 } else { 0 }
    }

    /// Take a trick that has points as cheaply as we can, else throw the cheapest card.
    fn trick_score(&self, mv: &str) -> i32 {
        let c = card(mv);
        let trick = self.cards("trick");
        let pot: i32 = trick.iter().map(|t| VALUE[t.rank]).sum();
        let winner = trick.into_iter().reduce(|best, t| if self.beats(t, best) { t } else { best });
        match winner {
            Some(w) if pot > 0 && self.beats(c, w) => 500 - self.price(c),
            _ => -self.price(c),
        }
    }

    // --- La Podrida ----------------------------------------------------------

    fn podrida_score(&self, mv: &str) -> i32 {
        if let Some(bid) = mv.strip_prefix("bid:") {
            // Bid as many tricks as we hold aces, kings and high trumps.
            let good = |c: &Card| c.rank == 1 || c.rank == 12 || self.is_trump(*c) && c.rank >= 10;
            return -(number(bid) - self.cards("hand").iter().filter(|c| good(c)).count() as i32).abs();
        }
        let c = card(mv);
        let strength = if c.rank == 1 { 13 } else { c.rank as i32 } + if self.is_trump(c) { 20 } else { 0 };
        let seat: usize = self.game["seat"].parse().unwrap();
        let wants_more = number(self.items("tricks")[seat]) < number(self.items("bids")[seat]);
        if wants_more { strength } else { -strength }
    }

    // --- Tebes ---------------------------------------------------------------

    /// Capture if we can, and go forward: up the board for white, down for black.
    fn tebes_score(&self, mv: &str) -> i32 {
        let (from, to) = mv.split_once('-').unwrap();
        let up = number(from) / number(self.get("size")) - number(to) / number(self.get("size"));
        let captures = self.get("pieces").as_bytes()[number(to) as usize] != b'.';
        (if self.get("me") == "w" { up } else { -up }) + if captures { 10 } else { 0 }
    }

    // --- Teeko ---------------------------------------------------------------

    /// Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which wins.
    fn teeko_score(&self, mv: &str) -> i32 {
        let (from, to) = mv.split_once('-').unwrap_or((mv, mv)); // "12" places, "12-13" moves
        let (from, to, me) = (number(from), number(to), self.get("me").as_bytes()[0]);
        let board = self.get("board").as_bytes();
        let is_mine = |s: &i32| *s == to || board[*s as usize] == me && *s != from;
        let mine: Vec<i32> = (0..25).filter(is_mine).collect();
        let in_step = |w: &[i32]| near(w[0], w[1]) && w[1] - w[0] == mine[1] - mine[0];
        if mine.len() == 4 && mine.windows(2).all(in_step) {
            return 6; // four in a line wins as well
        }
        mine.iter().map(|&a| mine.iter().filter(|&&b| a < b && near(a, b)).count() as i32).sum()
    }

    // --- the position --------------------------------------------------------

    /// By how much our side leads at cards: above 0 if we have more points on average.
    fn lead(&self) -> i32 {
        let option = |key: &str| self.game.get(key).map_or("", String::as_str);
        let (mut ours, mut theirs, mut us, mut them) = (0, 0, 0, 0);
        for (seat, points) in self.get("points").split(',').enumerate() {
            let distance = seat as i32 - number(option("seat"));
            if distance == 0 || option("teams") == "yes" && distance % 2 == 0 {
                ours += number(points);
                us += 1;
            } else {
                theirs += number(points);
                them += 1;
            }
        }
        ours * them - theirs * us
    }

    /// 1 for a piece of ours, -1 for one of theirs.
    fn sign(&self, piece: u8) -> i32 {
        if piece == self.get("me").as_bytes()[0] { 1 } else { -1 }
    }

    fn more_pieces(&self) -> i32 {
        self.get("pieces").bytes().filter(|&p| p != b'.').map(|p| self.sign(p)).sum()
    }

    /// How many more pairs of our pieces touch than of theirs.
    fn closer(&self) -> i32 {
        let board = self.get("board").as_bytes();
        let mut more = 0;
        for a in 0..25 {
            for b in 0..a {
                if board[a] != b'.' && board[a] == board[b] && near(a as i32, b as i32) {
                    more += self.sign(board[a]);
                }
            }
        }
        more
    }

    // --- choosing ------------------------------------------------------------

    fn score(&self, mv: &str) -> i32 {
        match self.name.as_str() {
            "brisca" | "tute" => self.trick_score(mv),
            "podrida" => self.podrida_score(mv),
            "tebes" => self.tebes_score(mv),
            "teeko" => self.teeko_score(mv),
            _ => 0, // a game that we do not know: any move
        }
    }

    /// How well the game stands for us: above 0 if we are winning.
    fn position(&self) -> i32 {
        match self.name.as_str() {
            "brisca" | "tute" | "podrida" => self.lead(),
            "tebes" => self.more_pieces(),
            "teeko" => self.closer(),
            _ => 0,
        }
    }

    fn choose<'a>(&self, ply: u64, moves: &[&'a str]) -> &'a str {
        if let Some(gift) = moves.iter().find(|m| m.starts_with("swap:") || m.starts_with("sing:")) {
            return gift; // a better trump and a song are always worth having
        }
        let top = moves.iter().map(|m| self.score(m)).max().unwrap_or(0);
        let best: Vec<_> = moves.iter().filter(|m| self.score(m) == top).collect();
        println!("info score={}", self.position());
        let seed: u64 = self.game.get("seed").and_then(|s| s.parse().ok()).unwrap_or(0);
        best[((seed + ply) % best.len() as u64) as usize] // a tie: any will do
    }
}

/// The words that are key=value.
fn pairs(words: &[&str]) -> HashMap<String, String> {
    words.iter().filter_map(|w| w.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect()
}

fn main() {
    let mut bot = Bot::default();
    for line in io::stdin().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // println! writes a line at once, so there is nothing to flush.
        match words.as_slice() {
            ["timba", ..] => println!("ready {NAME} {VERSION}"),
            ["game", name, rest @ ..] => {
                bot.name = name.to_string();
                bot.game = pairs(rest);
            }
            ["view", rest @ ..] => bot.view = pairs(rest),
            ["turn", ply, _milliseconds, moves @ ..] => {
                println!("move {}", bot.choose(ply.parse().unwrap_or(0), moves));
            }
            ["bye", ..] => break,
            _ => {} // event, fault, end, verbs to come: a bot may ignore them, the view says it all
        }
    }
}
