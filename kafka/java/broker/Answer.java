package org.elrcheck.broker;

import java.util.Collection;
import java.util.Map;
import java.util.TreeSet;

/** Lists and pairs as words. */
final class Answer {
    private Answer() { }

    static String ids(Collection<?> numbers) {
        if (numbers.isEmpty()) return "-";
        TreeSet<Integer> sorted = new TreeSet<>();
        for (Object number : numbers) sorted.add((Integer) number);
        return join(sorted);
    }

    static String pairs(Map<Integer, ?> of, char between) {
        if (of.isEmpty()) return "-";
        return join(of.entrySet().stream().map(e -> "" + e.getKey() + between + e.getValue()).toList());
    }

    private static String join(Collection<?> parts) {
        StringBuilder out = new StringBuilder();
        for (Object part : parts) out.append(out.isEmpty() ? "" : ",").append(part);
        return out.toString();
    }
}
