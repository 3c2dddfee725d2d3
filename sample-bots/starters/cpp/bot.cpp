// A complete timba bot: it plays all five games legally, with a hint of thought.
//
// The referee's lines come in on stdin, our answers go out on stdout, and a turn
// lists every legal move. So a bot only has to say how much it likes each of
// them: put your ideas into trick_score, podrida_score, tebes_score and
// teeko_score.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using std::string;
using Words = std::vector<string>;

const string NAME = "my-cpp-bot", VERSION = "1.0";

std::map<string, string> game; // the `game` line: name, seat, players, seed and the game's options
std::map<string, string> view; // the latest `view` line: all that we may know of the position

Words split(const string &text, char separator) {
    Words words;
    std::istringstream in(text);
    for (string word; std::getline(in, word, separator);)
        words.push_back(word);
    return words;
}

// items is a list of the view; an empty one is written "-".
Words items(const string &key) {
    return view[key] == "-" ? Words{} : split(view[key], ',');
}

// --- cards: "12c" is rank 12 of suit c ---------------------------------------

struct Card {
    int rank;
    char suit;
    explicit Card(const string &text) : rank(std::atoi(text.c_str())), suit(text.back()) {}
    bool is_trump() const { return suit == view["trump"].back(); } // the view has the card that shows the trumps
};

// --- Brisca and Tute ---------------------------------------------------------

const int POWER[13] = {0, 9, 0, 8, 1, 2, 3, 4, 0, 0, 5, 6, 7};
const int VALUE[13] = {0, 11, 0, 10, 0, 0, 0, 0, 0, 0, 2, 3, 4};

// beats: does the card, played later, take the trick from the card that wins it now?
bool beats(Card card, Card winner) {
    return card.suit == winner.suit ? POWER[card.rank] > POWER[winner.rank] : card.is_trump();
}

// price is how sorry we are to play a card: for its points, its strength, and for any trump.
int price(Card card) {
    return 10 * VALUE[card.rank] + POWER[card.rank] + (card.is_trump() ? 100 : 0);
}

// trick_score: take a trick that has points as cheaply as we can, else throw the cheapest card.
int trick_score(const string &move) {
    const Card card(move);
    const Words trick = items("trick");
    if (!trick.empty()) {
        Card winner(trick[0]);
        int pot = 0;
        for (const string &text : trick) {
            const Card later(text);
            pot += VALUE[later.rank];
            if (beats(later, winner))
                winner = later;
        }
        if (pot > 0 && beats(card, winner))
            return 500 - price(card);
    }
    return -price(card);
}

// --- La Podrida ----------------------------------------------------------------

int strength(Card card) {
    return (card.rank == 1 ? 13 : card.rank) + (card.is_trump() ? 20 : 0);
}

int podrida_score(const string &move) {
    if (move.rfind("bid:", 0) == 0) { // bid as many tricks as we hold aces, kings and high trumps
        const Words hand = items("hand");
        const auto good = std::count_if(hand.begin(), hand.end(), [](const string &text) {
            const Card c(text);
            return c.rank == 1 || c.rank == 12 || (c.is_trump() && c.rank >= 10);
        });
        return -std::abs(std::stoi(move.substr(4)) - static_cast<int>(good));
    }
    const int seat = std::stoi(game["seat"]);
    const bool wants_more = std::stoi(items("tricks")[seat]) < std::stoi(items("bids")[seat]);
    return wants_more ? strength(Card(move)) : -strength(Card(move));
}

// --- Tebes -----------------------------------------------------------------------

// tebes_score: capture if we can, and go forward: up the board for white, down for black.
int tebes_score(const string &move) {
    const Words squares = split(move, '-');
    const int size = std::stoi(view["size"]), from = std::stoi(squares[0]), to = std::stoi(squares[1]);
    const int up = from / size - to / size;
    return (view["me"] == "w" ? up : -up) + (view["pieces"][to] != '.' ? 10 : 0);
}

// --- Teeko -----------------------------------------------------------------------

bool near(int a, int b) {
    return std::abs(a / 5 - b / 5) <= 1 && std::abs(a % 5 - b % 5) <= 1;
}

// teeko_score counts the pairs of our pieces that touch: all six pairs do in a
// 2x2 square, which wins. Four in a line win as well.
int teeko_score(const string &move) {
    const Words squares = split(move, '-'); // "12" places, "12-13" moves
    const int from = std::stoi(squares.front()), to = std::stoi(squares.back());
    const string &board = view["board"], &me = view["me"];
    std::vector<int> mine;
    for (int s = 0; s < 25; s++)
        if (s == to || (board[s] == me[0] && s != from))
            mine.push_back(s);
    int pairs = 0;
    bool line = mine.size() == 4; // every step is the same, to a neighbour
    for (size_t i = 1; i < mine.size(); i++) {
        line = line && near(mine[i], mine[i - 1]) && mine[i] - mine[i - 1] == mine[1] - mine[0];
        for (size_t j = 0; j < i; j++)
            pairs += near(mine[i], mine[j]);
    }
    return line ? 6 : pairs;
}

// --- the position ------------------------------------------------------------------

// lead returns by how much our side leads at cards: above 0 if we have more points on average.
int lead() {
    const int me = std::stoi(game["seat"]);
    const bool teams = game["teams"] == "yes";
    int ours = 0, theirs = 0, us = 0, them = 0, seat = 0;
    for (const string &points : split(view["points"], ',')) {
        const bool with_us = seat == me || (teams && (seat - me) % 2 == 0);
        (with_us ? ours : theirs) += std::stoi(points);
        (with_us ? us : them)++;
        seat++;
    }
    return ours * them - theirs * us;
}

int more_pieces() {
    int more = 0;
    for (const char piece : view["pieces"])
        more += piece == '.' ? 0 : piece == view["me"][0] ? 1 : -1;
    return more;
}

// closer returns how many more pairs of our pieces touch than of theirs.
int closer() {
    const string &board = view["board"];
    int more = 0;
    for (int a = 0; a < 25; a++)
        for (int b = 0; b < a; b++)
            if (board[a] != '.' && board[a] == board[b] && near(a, b))
                more += board[a] == view["me"][0] ? 1 : -1;
    return more;
}

// --- choosing ----------------------------------------------------------------------

int score(const string &move) {
    const string &name = game["name"];
    if (name == "brisca" || name == "tute")
        return trick_score(move);
    if (name == "podrida")
        return podrida_score(move);
    if (name == "tebes")
        return tebes_score(move);
    if (name == "teeko")
        return teeko_score(move);
    return 0; // a game that we do not know: any move
}

// position returns how well the game stands for us: above 0 if we are winning.
int position() {
    const string &name = game["name"];
    if (name == "brisca" || name == "tute" || name == "podrida")
        return lead();
    return name == "tebes" ? more_pieces() : name == "teeko" ? closer() : 0;
}

string choose(int ply, const Words &moves) {
    Words best;
    int top = 0;
    for (const string &move : moves) {
        if (move.rfind("swap:", 0) == 0 || move.rfind("sing:", 0) == 0)
            return move; // a better trump and a song are always worth having
        const int s = score(move);
        if (best.empty() || s > top) {
            top = s;
            best.clear();
        }
        if (s == top)
            best.push_back(move);
    }
    std::cout << "info score=" << position() << '\n';
    const unsigned long long seed = std::strtoull(game["seed"].c_str(), nullptr, 10);
    return best[(seed + ply) % best.size()]; // a tie: any will do
}

// pairs reads "key=value" from words[start] on.
std::map<string, string> pairs(const Words &words, size_t start) {
    std::map<string, string> result;
    for (size_t i = start; i < words.size(); i++)
        if (const size_t equals = words[i].find('='); equals != string::npos)
            result[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    return result;
}

int main() {
    for (string line; std::getline(std::cin, line);) {
        const Words words = split(line, ' ');
        const string verb = words.empty() ? "" : words[0];
        // std::endl flushes: without it the line waits in a buffer and we time out.
        if (verb == "timba") {
            std::cout << "ready " << NAME << ' ' << VERSION << std::endl;
        } else if (verb == "game") {
            game = pairs(words, 2);
            game["name"] = words[1];
        } else if (verb == "view") {
            view = pairs(words, 1);
        } else if (verb == "turn") { // turn PLY MILLISECONDS MOVE...
            const string move = choose(std::stoi(words[1]), Words(words.begin() + 3, words.end()));
            std::cout << "move " << move << std::endl;
        } else if (verb == "bye") {
            break;
        }
        // Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
    }
}
