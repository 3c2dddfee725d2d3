public class Bot { public static void main(String[] a) { String s = 5; foo(); } }
