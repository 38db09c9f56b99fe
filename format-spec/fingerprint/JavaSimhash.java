import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.StringTokenizer;

/**
 * What the hash java128 has to equal: the steps of the Java program that fingerprint.md describes, with its own types. For
 * each line of standard input, a text in UTF-8 as hexadecimal digits, prints the fingerprint of its tokens with as many
 * bits as the argument says. Run by test_fingerprint.py.
 */
public final class JavaSimhash {
    private static final BigInteger FACTOR = BigInteger.valueOf(1000003);

    private static BigInteger hash(String token, int bits) {
        if (token.isEmpty()) {
            return BigInteger.ZERO;
        }
        BigInteger mask = BigInteger.TWO.pow(bits).subtract(BigInteger.ONE);
        BigInteger x = BigInteger.valueOf((long) token.charAt(0) << 7);
        for (char unit : token.toCharArray()) {
            x = x.multiply(FACTOR).xor(BigInteger.valueOf(unit)).and(mask);
        }
        x = x.xor(BigInteger.valueOf(token.length()));
        return x.equals(BigInteger.valueOf(-1)) ? BigInteger.valueOf(-2) : x;
    }

    private static BigInteger simhash(String text, int bits) {
        int[] sums = new int[bits];
        StringTokenizer tokens = new StringTokenizer(text);
        while (tokens.hasMoreTokens()) {
            BigInteger hash = hash(tokens.nextToken(), bits);
            for (int i = 0; i < bits; i++) {
                sums[i] += hash.testBit(i) ? 1 : -1;
            }
        }
        BigInteger made = BigInteger.ZERO;
        for (int i = 0; i < bits; i++) {
            if (sums[i] >= 0) {
                made = made.setBit(i);
            }
        }
        return made;
    }

    private static String decode(String digits) {
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) throws IOException {
        int bits = Integer.parseInt(arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(String.format("%0" + bits / 4 + "x", simhash(decode(line), bits)));
        }
    }
}
