Least(a, b) == IF a <= b THEN a ELSE b

Greatest(a, b) == IF a >= b THEN a ELSE b

\* The least member of S, or `default` if S is empty.
MinOf(S, default) == IF S = {} THEN default ELSE CHOOSE x \in S : \A y \in S : x <= y

\* The greatest member of S, or `default` if S is empty.
MaxOf(S, default) == IF S = {} THEN default ELSE CHOOSE x \in S : \A y \in S : x >= y

\* The sum of Value(x) over all x in S.
SumOf(S, Value(_)) ==
    LET sum[T \in SUBSET S] ==
            IF T = {} THEN 0 ELSE LET x == CHOOSE x \in T : TRUE IN Value(x) + sum[T \ {x}]
    IN  sum[S]

\* The set of elements of a sequence.
Elements(s) == {s[i] : i \in DOMAIN s}

\* The first n elements of a sequence, or all of them if there are fewer; for n < 0 all but the last -n.
Prefix(s, n) == SubSeq(s, 1, IF n < 0 THEN Len(s) + n ELSE Least(n, Len(s)))

\* A sequence without its first n elements; for n < 0 its last -n elements, or all of them if there are fewer.
Suffix(s, n) == SubSeq(s, IF n < 0 THEN Greatest(1, Len(s) + n + 1) ELSE n + 1, Len(s))

\* The first element of a sequence that passes the test, or None.
First(s, Test(_)) ==
    LET hits == {i \in DOMAIN s : Test(s[i])}
    IN  IF hits = {} THEN None ELSE s[CHOOSE i \in hits : \A j \in hits : i <= j]
