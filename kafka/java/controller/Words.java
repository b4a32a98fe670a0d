package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The words of a line, read strictly from left to right. "~" is a value that is absent, "-" an empty list. */
final class Words {
    static final String ABSENT = "~";
    static final String EMPTY = "-";

    /** A line that does not say what it should: a mistake of the caller. */
    static final class Misunderstood extends RuntimeException {
        Misunderstood(String message) {
            super(message);
        }
    }

    private final String line;
    private int at = 0;

    Words(String line) {
        this.line = line;
    }

    String word() {
        if (at > line.length()) throw new Misunderstood("a word is missing at the end");
        int end = line.indexOf(' ', at);
        if (end < 0) end = line.length();
        if (end == at) throw new Misunderstood("an empty word at " + at);
        String word = line.substring(at, end);
        at = end + 1;
        return word;
    }

    void end() {
        if (at <= line.length()) throw new Misunderstood("more words than expected at " + at);
    }

    /** Steps over "~" and says so; anything else is left for the next read. */
    boolean absent() {
        boolean here = line.startsWith(ABSENT, at) && (at + 1 == line.length() || line.charAt(at + 1) == ' ');
        if (here) at += 2;
        return here;
    }

    int number() {
        String word = word();
        try {
            return Integer.parseInt(word);
        } catch (NumberFormatException mistake) {
            throw new Misunderstood("not a number: " + word);
        }
    }

    boolean flag() {
        String word = word();
        if (word.equals("1")) return true;
        if (word.equals("0")) return false;
        throw new Misunderstood("not a flag: " + word);
    }

    Boolean optionalFlag() {
        return absent() ? null : (Boolean) flag();
    }

    Integer optionalNumber() {
        return absent() ? null : (Integer) number();
    }

    String optionalWord() {
        return absent() ? null : word();
    }

    /** Numbers with commas between them. */
    int[] numbers() {
        String word = word();
        if (word.equals(EMPTY)) return new int[0];
        int[] found = new int[word.length() / 2 + 1];
        int count = 0;
        int start = 0;
        while (start <= word.length()) {
            int end = word.indexOf(',', start);
            if (end < 0) end = word.length();
            try {
                found[count++] = Integer.parseInt(word, start, end, 10);
            } catch (NumberFormatException mistake) {
                throw new Misunderstood("not numbers: " + word);
            }
            start = end + 1;
        }
        return count == found.length ? found : Arrays.copyOf(found, count);
    }

    List<Integer> list() {
        int[] numbers = numbers();
        List<Integer> list = new ArrayList<>(numbers.length);
        for (int number : numbers) list.add(number);
        return list;
    }

    List<Integer> optionalList() {
        return absent() ? null : list();
    }

    static void write(int[] numbers, StringBuilder out) {
        if (numbers.length == 0) {
            out.append(EMPTY);
            return;
        }
        for (int i = 0; i < numbers.length; i++) {
            if (i > 0) out.append(',');
            out.append(numbers[i]);
        }
    }

    static void write(List<Integer> numbers, StringBuilder out) {
        int[] plain = new int[numbers.size()];
        for (int i = 0; i < plain.length; i++) plain[i] = numbers.get(i);
        write(plain, out);
    }

    /** An exception as one line at the end of an answer. */
    static void write(Throwable failure, StringBuilder out) {
        String text = failure.toString();
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            out.append(letter < ' ' || letter > '~' ? ' ' : letter);
        }
    }
}
