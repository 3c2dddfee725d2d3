import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A complete timba bot: it plays all five games legally, with a hint of thought.
 *
 * <p>The referee's lines come in on stdin, our answers go out on stdout, and a turn lists every
 * legal move. So a bot only has to say how much it likes each of them: put your ideas into
 * trickScore, podridaScore, tebesScore and teekoScore.
 */
public class Bot {
    static final String NAME = "my-java-bot", VERSION = "1.0";

    /** The latest `game` line: name, seat, players, seed and the game's options. */
    Map<String, String> game = Map.of();
    /** The latest `view` line: all that we may know of the position. */
    Map<String, String> view = Map.of();

    /** A list of the view; an empty one is written "-". */
    List<String> items(String key) {
        String text = view.getOrDefault(key, "-");
        return text.equals("-") ? List.of() : List.of(text.split(","));
    }

    // --- cards: "12c" is rank 12 of suit c ---------------------------------------

    static char last(String text) {
        return text.charAt(text.length() - 1);
    }

    record Card(int rank, char suit) {
        static Card of(String text) {
            return new Card(Integer.parseInt(text.substring(0, text.length() - 1)), last(text));
        }
    }

    boolean isTrump(Card c) {
        return c.suit == last(view.get("trump")); // the view has the card that shows the trumps
    }

    // --- Brisca and Tute -----------------------------------------------------------

    static final int[] POWER = {0, 9, 0, 8, 1, 2, 3, 4, 0, 0, 5, 6, 7};
    static final int[] VALUE = {0, 11, 0, 10, 0, 0, 0, 0, 0, 0, 2, 3, 4};

    /** Does a card, played later, take the trick from the card that wins it now? */
    boolean beats(Card c, Card winner) {
        return c.suit == winner.suit ? POWER[c.rank] > POWER[winner.rank] : isTrump(c);
    }

    /** How sorry we are to play a card: for its points, its strength, and for any trump. */
    int price(Card c) {
        return 10 * VALUE[c.rank] + POWER[c.rank] + (isTrump(c) ? 100 : 0);
    }

    /** Take a trick that has points as cheaply as we can, else throw the cheapest card. */
    int trickScore(String move) {
        Card card = Card.of(move), winner = null;
        int pot = 0;
        for (String text : items("trick")) {
            Card later = Card.of(text);
            pot += VALUE[later.rank];
            if (winner == null || beats(later, winner)) winner = later;
        }
        return pot > 0 && beats(card, winner) ? 500 - price(card) : -price(card);
    }

    // --- La Podrida ----------------------------------------------------------------

    int podridaScore(String move) {
        if (move.startsWith("bid:")) { // bid as many tricks as we hold aces, kings and high trumps
            int good = (int) items("hand").stream().map(Card::of)
                    .filter(c -> c.rank == 1 || c.rank == 12 || isTrump(c) && c.rank >= 10).count();
            return -Math.abs(Integer.parseInt(move.substring(4)) - good);
        }
        Card c = Card.of(move);
        int strength = (c.rank == 1 ? 13 : c.rank) + (isTrump(c) ? 20 : 0);
        int seat = Integer.parseInt(game.get("seat"));
        int tricks = Integer.parseInt(items("tricks").get(seat)), bid = Integer.parseInt(items("bids").get(seat));
        return tricks < bid ? strength : -strength;
    }

    // --- Tebes -----------------------------------------------------------------------

    /** Capture if we can, and go forward: up the board for white, down for black. */
    int tebesScore(String move) {
        String[] squares = move.split("-");
        int from = Integer.parseInt(squares[0]), to = Integer.parseInt(squares[1]);
        int size = Integer.parseInt(view.get("size"));
        int up = from / size - to / size;
        boolean captures = view.get("pieces").charAt(to) != '.';
        return (view.get("me").equals("w") ? up : -up) + (captures ? 10 : 0);
    }

    // --- Teeko -----------------------------------------------------------------------

    static boolean near(int a, int b) {
        return Math.abs(a / 5 - b / 5) <= 1 && Math.abs(a % 5 - b % 5) <= 1;
    }

    /**
     * Counts the pairs of our pieces that touch: all six pairs do in a 2x2 square, which wins. Four
     * in a line win as well.
     */
    int teekoScore(String move) {
        String[] squares = move.split("-"); // "12" places, "12-13" moves
        int from = Integer.parseInt(squares[0]), to = Integer.parseInt(squares[squares.length - 1]);
        String board = view.get("board");
        char me = view.get("me").charAt(0);
        int[] mine = IntStream.range(0, 25)
                .filter(s -> s == to || board.charAt(s) == me && s != from).toArray();
        int pairs = 0;
        boolean line = mine.length == 4; // every step is the same, to a neighbour
        for (int i = 1; i < mine.length; i++) {
            line = line && near(mine[i], mine[i - 1]) && mine[i] - mine[i - 1] == mine[1] - mine[0];
            for (int j = 0; j < i; j++) if (near(mine[i], mine[j])) pairs++;
        }
        return line ? 6 : pairs;
    }

    // --- the position ------------------------------------------------------------------

    /** By how much our side leads at cards: above 0 if we have more points on average. */
    int lead() {
        int me = Integer.parseInt(game.get("seat")), ours = 0, theirs = 0, us = 0, them = 0, seat = 0;
        for (String points : items("points")) {
            if (seat == me || "yes".equals(game.get("teams")) && (seat - me) % 2 == 0) {
                ours += Integer.parseInt(points);
                us++;
            } else {
                theirs += Integer.parseInt(points);
                them++;
            }
            seat++;
        }
        return ours * them - theirs * us;
    }

    int morePieces() {
        char me = view.get("me").charAt(0);
        return view.get("pieces").chars().map(p -> p == '.' ? 0 : p == me ? 1 : -1).sum();
    }

    /** How many more pairs of our pieces touch than of theirs. */
    int closer() {
        String board = view.get("board");
        int more = 0;
        for (int a = 0; a < 25; a++) {
            for (int b = 0; b < a; b++) {
                char piece = board.charAt(a);
                if (piece == '.' || piece != board.charAt(b) || !near(a, b)) continue;
                more += piece == view.get("me").charAt(0) ? 1 : -1;
            }
        }
        return more;
    }

    // --- choosing ----------------------------------------------------------------------

    int score(String move) {
        return switch (game.getOrDefault("name", "")) {
            case "brisca", "tute" -> trickScore(move);
            case "podrida" -> podridaScore(move);
            case "tebes" -> tebesScore(move);
            case "teeko" -> teekoScore(move);
            default -> 0; // a game that we do not know: any move
        };
    }

    /** How well the game stands for us: above 0 if we are winning. */
    int position() {
        return switch (game.getOrDefault("name", "")) {
            case "brisca", "tute", "podrida" -> lead();
            case "tebes" -> morePieces();
            case "teeko" -> closer();
            default -> 0;
        };
    }

    String choose(int ply, List<String> moves) {
        List<String> best = new ArrayList<>();
        int top = 0;
        for (String move : moves) {
            // A better trump and a song are always worth having.
            if (move.startsWith("swap:") || move.startsWith("sing:")) return move;
            int score = score(move);
            if (best.isEmpty() || score > top) {
                top = score;
                best.clear();
            }
            if (score == top) best.add(move);
        }
        System.out.println("info score=" + position());
        long seed = Long.parseLong(game.getOrDefault("seed", "0"));
        return best.get((int) ((seed + ply) % best.size())); // a tie: any will do
    }

    /** The words that are key=value. */
    static Map<String, String> pairs(List<String> words) {
        Map<String, String> pairs = new HashMap<>();
        words.stream().map(word -> word.split("=", 2)).filter(kv -> kv.length == 2)
                .forEach(kv -> pairs.put(kv[0], kv[1]));
        return pairs;
    }

    /** Answers one line; false after the last. */
    boolean handle(List<String> words) {
        switch (words.get(0)) {
            case "timba" -> System.out.println("ready " + NAME + " " + VERSION);
            case "game" -> {
                game = pairs(words);
                game.put("name", words.get(1));
            }
            case "view" -> view = pairs(words);
            case "turn" -> { // turn PLY MILLISECONDS MOVE...
                String move = choose(Integer.parseInt(words.get(1)), words.subList(3, words.size()));
                System.out.println("move " + move);
            }
            case "bye" -> {
                return false;
            }
            default -> { } // event, fault, end, verbs to come: ignored, the view says it all
        }
        System.out.flush(); // else the line may wait in a buffer and we time out
        return true;
    }

    public static void main(String[] args) throws IOException {
        Bot bot = new Bot();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            if (!bot.handle(List.of(line.split(" ")))) break;
        }
    }
}
