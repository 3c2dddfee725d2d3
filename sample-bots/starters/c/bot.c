/* A complete timba bot: it plays all five games legally, with a hint of thought.
 *
 * The referee's lines come in on stdin, our answers go out on stdout, and a turn
 * lists every legal move. So a bot only has to say how much it likes each of
 * them: put your ideas into trick_score, podrida_score, tebes_score and
 * teeko_score. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READY "ready my-c-bot 1.0"
enum { LINE = 65536, MOVES = 1024 };

static char game[LINE]; /* the latest `game` line: "game NAME seat=0 seed=1 ..." */
static char view[LINE]; /* the latest `view` line: all that we may know of the position */

/* find points at the value of a key in a line ("-" if it has none); the value
 * ends at a space or at the line's end. */
static const char *find(const char *line, const char *key) {
    size_t n = strlen(key);
    for (const char *p = line; (p = strchr(p, ' ')); ) {
        p++;
        if (strncmp(p, key, n) == 0 && p[n] == '=')
            return p + n + 1;
    }
    return "-";
}

/* next goes to the next item of a comma list: NULL at the end. A list is walked by
 * for (p = first("hand"); p; p = next(p)). An empty one is written "-". */
static const char *next(const char *p) {
    p += strcspn(p, ", ");
    return *p == ',' ? p + 1 : NULL;
}

static const char *first(const char *key) {
    const char *p = find(view, key);
    return *p == '-' && (p[1] == '\0' || p[1] == ' ') ? NULL : p;
}

/* by_seat is a number of a by-seat list such as tricks=0,2,1,0. */
static int by_seat(const char *key, int seat) {
    const char *p = find(view, key);
    while (seat-- > 0 && p)
        p = next(p);
    return p ? atoi(p) : 0;
}

/* --- cards: "12c" is rank 12 of suit c ------------------------------------ */

typedef struct { int rank; char suit; } Card;

static Card card(const char *text) {
    char *end;
    Card c = {(int)strtol(text, &end, 10), '?'};
    c.suit = *end;
    return c;
}

static int is_trump(Card c) { /* the view has the card that shows the trumps */
    const char *t = find(view, "trump");
    return c.suit == t[strcspn(t, " ") - 1];
}

/* --- Brisca and Tute -------------------------------------------------------- */

static const int power_of[13] = {0, 9, 0, 8, 1, 2, 3, 4, 0, 0, 5, 6, 7};
static const int value_of[13] = {0, 11, 0, 10, 0, 0, 0, 0, 0, 0, 2, 3, 4};

/* beats: does c, played later, take the trick from the card that wins it now? */
static int beats(Card c, Card winner) {
    return c.suit == winner.suit ? power_of[c.rank] > power_of[winner.rank] : is_trump(c);
}

/* trick_score: take a trick that has points as cheaply as we can, else throw the
 * cheapest card. The price of a card is what it is worth to keep. */
static int trick_score(const char *move) {
    Card c = card(move), winner = {0, '?'};
    int pot = 0, price = 10 * value_of[c.rank] + power_of[c.rank] + (is_trump(c) ? 100 : 0);
    const char *trick = first("trick");
    for (const char *p = trick; p; p = next(p)) {
        Card t = card(p);
        pot += value_of[t.rank];
        if (p == trick || beats(t, winner))
            winner = t;
    }
    return pot > 0 && beats(c, winner) ? 500 - price : -price;
}

/* --- La Podrida ------------------------------------------------------------- */

static int podrida_score(const char *move) {
    int seat = atoi(find(game, "seat")), good = 0;
    if (strncmp(move, "bid:", 4) == 0) { /* bid our aces, kings and high trumps */
        for (const char *p = first("hand"); p; p = next(p)) {
            Card c = card(p);
            good += c.rank == 1 || c.rank == 12 || (is_trump(c) && c.rank >= 10);
        }
        return -abs(atoi(move + 4) - good);
    }
    Card c = card(move);
    int strength = (c.rank == 1 ? 13 : c.rank) + (is_trump(c) ? 20 : 0);
    return by_seat("tricks", seat) < by_seat("bids", seat) ? strength : -strength;
}

/* --- Tebes ------------------------------------------------------------------ */

/* tebes_score: capture if we can, and go forward: up the board for white, down for black. */
static int tebes_score(const char *move) {
    int size = atoi(find(view, "size")), from = atoi(move), to = atoi(strchr(move, '-') + 1);
    int up = from / size - to / size;
    return (*find(view, "me") == 'w' ? up : -up) + (find(view, "pieces")[to] != '.' ? 10 : 0);
}

/* --- Teeko ------------------------------------------------------------------ */

static int near(int a, int b) {
    return abs(a / 5 - b / 5) <= 1 && abs(a % 5 - b % 5) <= 1;
}

/* teeko_score counts the pairs of our pieces that touch: all six pairs do in a
 * 2x2 square, which wins. */
static int teeko_score(const char *move) {
    const char *board = find(view, "board"), *dash = strchr(move, '-');
    char me = *find(view, "me");
    int from = atoi(move), to = dash ? atoi(dash + 1) : from; /* "12" places, "12-13" moves */
    int mine[25], n = 0, pairs = 0;
    for (int s = 0; s < 25; s++)
        if (s == to || (board[s] == me && s != from))
            mine[n++] = s;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            pairs += near(mine[i], mine[j]);
    int line = n == 4; /* four in a line: every step is the same, to a neighbour */
    for (int i = 1; i < n; i++)
        line = line && near(mine[i - 1], mine[i]) && mine[i] - mine[i - 1] == mine[1] - mine[0];
    return line ? 6 : pairs;
}

/* --- the position ----------------------------------------------------------- */

/* lead returns by how much our side leads at cards: above 0 if we have more
 * points on average. */
static int lead(void) {
    int me = atoi(find(game, "seat")), teams = *find(game, "teams") == 'y';
    int ours = 0, theirs = 0, us = 0, them = 0, seat = 0;
    for (const char *p = first("points"); p; p = next(p), seat++)
        if (seat == me || (teams && (seat - me) % 2 == 0))
            ours += atoi(p), us++;
        else
            theirs += atoi(p), them++;
    return ours * them - theirs * us;
}

static int more_pieces(void) {
    int more = 0;
    char me = *find(view, "me");
    for (const char *p = find(view, "pieces"); *p && *p != ' '; p++)
        more += *p == '.' ? 0 : *p == me ? 1 : -1;
    return more;
}

/* closer returns how many more pairs of our pieces touch than of theirs. */
static int closer(void) {
    const char *board = find(view, "board");
    int more = 0;
    for (int a = 0; a < 25; a++)
        for (int b = 0; b < a; b++)
            if (board[a] != '.' && board[a] == board[b] && near(a, b))
                more += board[a] == *find(view, "me") ? 1 : -1;
    return more;
}

/* --- choosing --------------------------------------------------------------- */

static int playing(const char *name) {
    const char *p = game + strlen("game ");
    size_t n = strlen(name);
    return strncmp(p, name, n) == 0 && (p[n] == ' ' || p[n] == '\0');
}

static int score(const char *move) {
    if (playing("brisca") || playing("tute"))
        return trick_score(move);
    if (playing("podrida"))
        return podrida_score(move);
    if (playing("tebes"))
        return tebes_score(move);
    if (playing("teeko"))
        return teeko_score(move);
    return 0; /* a game that we do not know: any move */
}

/* position returns how well the game stands for us: above 0 if we are winning. */
static int position(void) {
    if (playing("brisca") || playing("tute") || playing("podrida"))
        return lead();
    return playing("tebes") ? more_pieces() : playing("teeko") ? closer() : 0;
}

/* turn answers "turn PLY MILLISECONDS MOVE...". */
static void turn(char *line) {
    const char *best[MOVES] = {0};
    int n = 0, top = 0;
    strtok(line, " ");
    long ply = atol(strtok(NULL, " "));
    strtok(NULL, " ");
    for (char *move; (move = strtok(NULL, " ")) && n < MOVES; ) {
        if (strncmp(move, "swap:", 5) == 0 || strncmp(move, "sing:", 5) == 0) {
            printf("move %s\n", move); /* a better trump and a song are always worth having */
            return;
        }
        int s = score(move);
        if (n == 0 || s > top)
            top = s, n = 0;
        if (s == top)
            best[n++] = move;
    }
    unsigned long long seed = strtoull(find(game, "seed"), NULL, 10);
    printf("info score=%d\nmove %s\n", position(), best[(seed + ply) % n]); /* a tie: any will do */
}

int main(void) {
    static char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "timba ", 6) == 0)
            puts(READY);
        else if (strncmp(line, "game ", 5) == 0)
            strcpy(game, line);
        else if (strncmp(line, "view ", 5) == 0)
            strcpy(view, line);
        else if (strncmp(line, "turn ", 5) == 0)
            turn(line);
        else if (strcmp(line, "bye") == 0)
            break;
        /* Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all. */
        fflush(stdout); /* without this the line waits in a buffer and we time out */
    }
    return 0;
}
