# plan --sample looks at how the data crowd, whatever their format; -n may be left out.
fingerprints 2000 7 >uniform
exits 0 sstore plan --sample uniform --json | grep -o '"record_count":2000,.*"sample_count":2000'
exits 0 sstore plan -n 100M --sample uniform | grep -c '^\* '
exits 0 sstore plan -n 100M --sample - <uniform | cmp - <(sstore plan -n 100M --sample uniform)
sed 's/.*/& 17/' uniform | sstore plan -n 100M --sample - | cmp - <(sstore plan -n 100M --sample uniform)
echo "--- crowded leading bits meet more candidates"
sed 's/^....../000000/' uniform >crowded
candidates()
{
    sstore plan --json --all -n 100M "$@" |
        grep -o '"plan":"16:0,16:0,16:0,16:0"[^}]*"candidate_count":[^,]*' | sed 's/.*://'
}
echo "$(candidates --sample crowded) $(candidates --sample uniform)" | awk '{print ($1 > 100 * $2 ? "more" : "FAILED")}'
echo "--- an empty sample, none at all, one that is malformed"
exits 0 sstore plan -n 10M --sample /dev/null | cmp - <(sstore plan -n 10M)
exits 1 sstore plan --sample /dev/null 2>&1
exits 1 sstore plan --sample missing 2>/dev/null
echo xyz | exits 1 sstore plan --sample -  2>/dev/null
