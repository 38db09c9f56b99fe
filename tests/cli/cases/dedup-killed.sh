# A killed or interrupted 'sstore dedup' leaves nothing behind, writes no part of a list, and adds nothing to a store.
mkdir scratch
awk 'BEGIN { srand(5); for (i = 0; i < 30000; i++) { t = ""; for (j = 0; j < 12; j++) t = t sprintf("w%x ", rand() * 4096); print t } }' >lines
sstore dedup --quiet --tmp-dir scratch --update seen.store lines >all
sstore stat --json seen.store >before
begin=$(date +%s%N)
sstore dedup --quiet --tmp-dir scratch --against seen.store --removed list lines >/dev/null
took=$(($(date +%s%N) - begin))
whole=$(wc -l <list)
gone() { while [ -n "$(ls scratch)" ]; do sleep 0.01; done; } # the watcher may still be at work
killed=0
for i in {1..24}; do
    signal=$((i % 3)) && signal=$(echo KILL TERM INT | cut -d ' ' -f $((signal + 1)))
    rm -f list
    (trap - INT; exec sstore dedup --quiet --tmp-dir scratch --update seen.store --removed list <(cat lines) >out 2>errors) &
    sleep "$(awk -v took=$took -v i=$i 'BEGIN { print took / 1e9 * i / 24 }')"
    kill -$signal $! 2>/dev/null
    wait $! 2>/dev/null && continue
    killed=$((killed + 1))
    # A run that is killed at its very end has written all of it.
    [ ! -e list ] || [ "$(wc -l <list)" = "$whole" ] || echo "FAILED: a part of the list is there"
    gone
done
echo "figure: killed $killed of 24" >&3
sstore stat --json seen.store | same - before
ls scratch
echo "--- a reader that ends early"
sstore dedup --quiet --tmp-dir scratch lines | head -1
gone
