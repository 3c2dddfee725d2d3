import java.util.Scanner;

public class Bot {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        String hand = null;
        while (in.hasNextLine()) {
            String[] words = in.nextLine().split(" ");
            if (words[0].equals("timba")) System.out.println("ready");
            else if (words[0].equals("turn")) System.out.println("move " + hand.length());
            else if (words[0].equals("bye")) return;
        }
    }
}
