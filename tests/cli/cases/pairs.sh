# Pairs, clusters and joins of small stores, against pairs found by trying all.
clustered 120 1 | nl -v 1 -w 1 | awk '{print $2 "\t" $1}' >all
{ head -n 3 all | cut -f 1 | sed 's/$/\t900/'; cat all; } >records # three fingerprints have two ids
sstore build --quiet STORE records
# All pairs of two dumps: brute_pairs A B DISTANCE SELF
brute_pairs() {
    local a b x i y j bits distance
    while read -r a i; do
        while read -r b j; do
            if [ "$4" = 1 ] && { [[ $a > $b ]] || { [ "$a" = "$b" ] && ((i >= j)); }; }; then continue; fi
            ((bits = 0x$a ^ 0x$b, distance = 0))
            while ((bits != 0 && distance <= $3)); do ((bits &= bits - 1, distance++)); done
            ((distance <= $3)) && printf '%s\t%s\t%s\t%s\t%d\n' "$a" "$i" "$b" "$j" "$distance"
        done <"$2"
    done <"$1" | sort -t "$(printf '\t')" -k 1,1 -k 3,3 -k 4n,4 -k 2n,2
}
sstore dump STORE >dump
exits 0 sstore pairs STORE >got
brute_pairs dump dump 3 1 | cmp - got && wc -l <got
exits 0 sstore pairs -k 1 --memory 8M --threads 1 STORE >got
brute_pairs dump dump 1 1 | cmp - got && wc -l <got
exits 0 sstore pairs -k 0 STORE | sort -k 2n,2
echo "--- clusters"
exits 0 sstore clusters STORE >clusters
head -n 4 clusters
awk '{print $1}' clusters | sort -n | uniq -c | sed 's/  */ /g'
exits 0 sstore clusters --singles STORE | wc -l
exits 0 sstore clusters --representatives STORE >keep
exits 0 sstore clusters --drop STORE >drop
sort keep drop | cmp - <(sort dump) && echo "what to keep and what to drop is all"
sstore remove --quiet STORE drop
sstore clusters STORE | wc -l
sstore pairs STORE | wc -l
echo "--- join"
clustered 60 1 | awk '{print $1 "\t" NR}' | sstore build --quiet A
clustered 60 1 | tail -n 40 | tr 01 10 | sstore build --quiet --no-ids B
sstore dump A >a
sstore dump B | sed 's/-/0/' >b
exits 0 sstore join A B >got
brute_pairs a b 3 0 | awk -v OFS='\t' '{$4 = "-"; print}' | cmp - got && wc -l <got
exits 0 sstore join -k 8 B A >got
brute_pairs b a 8 0 | awk -v OFS='\t' '{$2 = "-"; print}' | cmp - got && wc -l <got
exits 0 sstore join A A | wc -l
echo "--- JSON"
exits 0 sstore pairs --json A | head -n 1
exits 0 sstore clusters --json A | head -n 1
exits 0 sstore join --json A B | head -n 1
echo "--- edges"
sstore build --quiet EDGES records
sstore pairs EDGES | cut -f 2,4 >edges
exits 0 sstore clusters --edges edges >components
# The same groups of ids as the pairs connect, by repeated relabelling.
awk -F '\t' '{ if (!($1 in root)) root[$1] = $1; if (!($2 in root)) root[$2] = $2; a[NR] = $1; b[NR] = $2 }
    END { do { changed = 0; for (i = 1; i <= NR; i++) { x = root[a[i]]; y = root[b[i]]; low = x < y ? x : y
          if (x != low || y != low) { root[a[i]] = root[b[i]] = low; changed = 1 } } } while (changed)
          for (node in root) print root[node] "\t" node }' OFS='\t' edges | sort -k 2n,2 | cmp - components && wc -l <components
exits 0 sstore clusters --edges - --representatives <edges >keep
exits 0 sstore clusters --edges - --drop <edges >drop
sort -n keep drop | cmp - <(cut -f 2 components) && echo "what to keep and what to drop is all"
gzip -k edges && exits 0 sstore clusters --edges edges.gz --memory 8M --threads 1 | cmp - components && echo compressed
printf '7 8\n9 9\n' | exits 0 sstore clusters --edges - --json
for line in '9' '9 -' '-9 8' '9 -8' '9 8 7' '9 18446744073709551616' 'a b'; do
    printf '7 8\n%s\n' "$line" | exits 1 sstore clusters --edges -
done
printf '18446744073709551615\t0\n' | exits 0 sstore clusters --edges -
sstore dump --format u64 EDGES >edges.u64
exits 1 sstore clusters --edges edges.u64
exits 1 sstore clusters --edges missing
exits 2 sstore clusters --edges edges STORE
exits 2 sstore clusters --edges edges -k 3
: | exits 0 sstore clusters --edges -
