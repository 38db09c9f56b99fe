# A store that grows by small changes keeps few segments, and becomes what a build of its records makes.
segments() { sstore stat "$1" | sed -n 's/^segments *//p'; }
as_built() { same_blocks "$1"/seg-* "$2"/seg-*; }
radii() { sstore stat "$1" | sed -n 's/^plan *//p'; }

echo "--- one record at a time"
fingerprints 40 1 | nl -v 0 -w 1 | awk '{print $2 "\t" $1}' >records
sed -n 1p records | sstore build --quiet STORE
for i in $(seq 2 40); do
    sed -n "${i}p" records | sstore add --quiet STORE
done
sstore build --quiet BUILT records
same_store STORE BUILT
sed -n 5,8p records | exits 0 sstore remove STORE 2>&1
sed 5,8d records | sstore build --quiet --force BUILT
as_built STORE BUILT
echo "--- a removal and an addition that cancel out"
fingerprints 20000 2 | sstore build --quiet LARGE
fingerprints 5 2 | exits 0 sstore remove LARGE 2>&1
echo 123 | sstore add --quiet LARGE
paste <(fingerprints 5 2) <(seq 0 4) | exits 0 sstore add LARGE 2>&1
exits 0 sstore verify LARGE | cut -d , -f 1-2
sstore dump LARGE | cut -f 1 | sort | cmp - <((fingerprints 20000 2; echo 0000000000000123) | sort) && echo "all are there"

echo "--- a large segment stays"
large=$(ls LARGE | grep seg-)
for i in 1 2 3 4 5 6; do
    echo "$i" | sstore add --quiet LARGE
done
segments LARGE
echo "$large" | grep -qxF "$(ls LARGE/ | grep -xF "$large" | head -n 1)" && echo "it does"
echo 7 | exits 0 sstore add --no-compact LARGE 2>&1
echo 8 | exits 0 sstore add LARGE 2>&1

echo "--- radii"
paste -d '' <(fingerprints 3000 3) <(fingerprints 3000 4) <(fingerprints 3000 5) <(fingerprints 3000 6) >wide
for plan in 2 1 22,21,21 5c2 auto; do
    sstore build --quiet --bits 256 -k 31 --plan $plan WIDE </dev/null 2>/dev/null
    head -n 1500 wide | sstore add --quiet --no-compact WIDE
    tail -n +1501 wide | sstore add --quiet --no-compact WIDE
    sstore compact --quiet WIDE
    sstore build --quiet --bits 256 -k 31 --plan $plan FRESH wide
    as_built WIDE FRESH
    [ "$(radii WIDE)" = "$(radii FRESH)" ] || echo "FAILED: $plan: $(radii WIDE)"
    rm -r WIDE FRESH
done

echo "--- few descriptors"
for i in 1 2 3; do fingerprints 16 $((10 + i)) | tr -d '\n'; echo; done | cut -c 1-256 >few
sed -n 1p few | sstore build --quiet -k 60 --plan 4 FEW
for i in 2 3; do
    sed -n "${i}p" few | sstore add --quiet --no-compact FEW
done
segments FEW
(ulimit -n 40 && exits 0 sstore query -k 0 FEW --input few | wc -l)

echo "--- published, though the store cannot be opened again"
fingerprints 20 7 | sstore build --quiet --plan 4 TIGHT
for limit in $(seq 10 30); do
    before=$(sstore dump TIGHT | wc -l)
    if (ulimit -n "$limit" && fingerprints 30 99 | sed -n "${limit}p" | sstore add --quiet --no-compact --if-new TIGHT) >/dev/null 2>message; then
        [ "$(sstore dump TIGHT | wc -l)" -gt "$before" ] || echo "FAILED: $limit: not added"
    else
        [ "$(sstore dump TIGHT | wc -l)" -eq "$before" ] || echo "FAILED: $limit: added, with $(cat message)"
    fi
done

echo "--- waiting for another writer"
sstore build --quiet --force STORE records
for i in 1 2 3 4 5; do
    echo "ffff$i" | sstore add --quiet --wait STORE &
done
wait
sstore dump STORE | wc -l
mkfifo pipe
sstore add --quiet STORE pipe &
exec 3>pipe
echo 5 >&3
while ! ls STORE | grep -q tmp-; do sleep 0.01; done
exits 1 sstore add STORE records 2>&1
exits 1 sstore compact --wait=0 STORE 2>&1
exits 1 sstore remove --wait=1 STORE records 2>&1
exits 1 sstore reindex --wait=1 STORE 2>&1
exits 2 sstore add --wait=soon STORE records 2>&1
exec 4< <(exec 3>&-; sstore build --quiet --force --wait STORE records 2>&1; echo "built: exit $?")
for delay in 0 0.1 0.5 2 10; do # an emulated program catches signals later than its emulator
    sstore add --wait STORE records 2>interrupted &
    until grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$!/status; do sleep 0.01; done # 0x4000: SIGTERM is caught
    sleep $delay
    kill -TERM $!
    wait $!
    code=$?
    [ ! -s interrupted ] || break
done
echo "exit $code"
cat interrupted
exec 3>&-
cat <&4
sstore dump STORE | wc -l

echo "--- zeros"
fingerprints 30000 8 | sstore build --quiet --plan 1 --block-size 256 ZEROS
table=$(echo ZEROS/seg-*/table-00.blk)
size=$(stat -c %s "$table")
truncate -s 4096 "$table"
truncate -s "$size" "$table"
exits 3 sstore verify ZEROS 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/; s/[0-9]* blocks after/N blocks after/'
