# Features with weights of the caller's own choice; blank lines end documents.
printf 'cat\t1\nmat\t2.5\nthe\t-0.5\n\n\ncat\t2\nmat\t5\nthe\t-1\n' >features
exits 0 sstore fingerprint --weighted features
echo "--- the order of features does not matter, the scale neither"
printf 'the\t-1\nmat\t5\ncat\t2\n' | exits 0 sstore fingerprint --weighted
echo "--- a feature may hold tabs; the weight is behind the last"
printf 'a\tb\t1\n' | exits 0 sstore fingerprint --weighted
echo "--- a weight is rounded once: two features of equal weight, then one that is a unit heavier by less than a double shows"
printf 'cat\t1048576\nmat\t1048576\n\ncat\t1048576.0000004768371582031250001\nmat\t1048576\n' | sstore fingerprint --weighted
printf 'cat\t1048577\nmat\t1048576\n' | sstore fingerprint --weighted
printf 'cat\t%s1.25e-3\n' "$(head -c 1000000 /dev/zero | tr '\0' 0)" | sstore fingerprint --weighted
echo "--- malformed"
printf 'cat\t1\nmat\n' >no-weight
exits 1 sstore fingerprint --weighted no-weight
printf 'cat\tmuch\n' | exits 1 sstore fingerprint --weighted
printf 'cat\t1e99\n' | exits 1 sstore fingerprint --weighted
printf 'cat\tnan\n' | exits 1 sstore fingerprint --weighted
printf 'cat\t2147483648.0000000000000000000000001\n' | exits 1 sstore fingerprint --weighted
echo "--- a line that is too long"
{ printf 'cat\t1\n'; head -c 17000000 /dev/zero; } | exits 1 sstore fingerprint --weighted
