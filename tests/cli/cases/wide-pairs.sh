# Pairs, clusters, joins, scans and deduplication of fingerprints of several words, against trying all records.
oracle=${BASH_SOURCE[0]%/cases/*}/wide_oracle.py
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3" >&3
    cat "${BASH_SOURCE[0]%.sh}.stdout"
    exit
fi
exec 2>&1
for bits in 128 256 512; do
    k=$((bits / 8))
    python3 "$oracle" make $bits 400 7 >first
    { python3 "$oracle" make $bits 100 8; sed -n '1~9p' first; } >second
    exits 0 sstore build --quiet --force -k $k FIRST first
    exits 0 sstore build --quiet --force -k $k SECOND second
    sstore dump FIRST >records
    sstore dump SECOND >others
    python3 "$oracle" pairs records records $k >expected
    same <(sort expected) <(sstore pairs FIRST | sort)
    same <(awk '$5 <= 9' expected | sort) <(sstore pairs -k 9 FIRST | sort)
    python3 "$oracle" pairs records others $k >joined
    same <(sort joined) <(sstore join FIRST SECOND | sort)
    python3 "$oracle" clusters records $k | sort >expected-clusters
    same expected-clusters <(sstore clusters FIRST | sort)
    same <(cut -f 2,3 expected-clusters | sort) <({ sstore clusters --representatives FIRST; sstore clusters --drop FIRST; } |
        sort | comm -12 - <(cut -f 2,3 expected-clusters | sort))
    sstore pairs --json FIRST | sed 's/[^":,]*"[a-z_]*":"*\([^",}]*\)"*[,}]/\1\t/g; s/\t$//' | sort >found
    same <(sort expected) found
    cut -f 1 others | sort -u >queries
    python3 "$oracle" near records queries $k | sort -u >matches
    exits 0 sstore scan -k $k --queries queries records | sort >found
    same matches found
    exits 0 sstore scan -k $k --queries queries <records | exits 0 sstore collect >found
    python3 "$oracle" near records queries $k >expected
    same expected found
    sstore dump --format rec FIRST | exits 0 sstore scan -k $k --queries queries --format rec | sort >found
    same matches found
    sstore query -k $k FIRST --input queries | shuf --random-source=records | exits 0 sstore collect >found
    same expected found
    echo "$bits: pairs $(sstore pairs FIRST | wc -l), joined $(wc -l <joined), clusters $(cut -f 1 expected-clusters | wc -l)," \
        "matches $(wc -l <matches)"
    # Each record is answered as by a query of the store and of the new records before it.
    exits 0 sstore add --if-new FIRST second >answers
    python3 "$oracle" dedup records second $k >expected
    same expected answers
    sstore verify --quiet FIRST
    exits 0 sstore build --quiet --force -k $k LINES first
    exits 0 sstore add --if-new LINES <second 2>said | cut -f 1-4 >answers
    same expected answers
    same <(sstore dump FIRST) <(sstore dump LINES)
done
echo "--- refused"
exits 2 sstore pairs -k 129 FIRST
exits 2 sstore clusters -k 129 FIRST
exits 2 sstore add --if-new -k 129 FIRST second
exits 2 sstore scan -k 129 --queries queries first
cut -c 1-32 queries >narrow
exits 1 sstore scan --queries narrow first
exits 1 sstore scan --queries queries narrow
exits 1 sstore scan --queries queries --bits 64 first
exits 0 sstore scan --queries /dev/null first
head -2 found >mixed
printf '%032d\t%032d\t0\t7\n' 0 0 >>mixed
exits 1 sstore collect mixed
exits 0 sstore build --quiet --force NARROW narrow
exits 2 sstore join FIRST NARROW
