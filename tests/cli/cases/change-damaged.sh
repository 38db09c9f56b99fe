# A change that would be merged with a damaged segment is published as a segment of its own, with a warning. Whether a
# record is new cannot be told without the damaged block.
clustered 3000 62 >input
printf '%016x\t%s\n' 1 70001 >new
sort input | head -1 | cut -f 1 >gone
for file in table-00.blk ids.blk; do
    for command in 'add STORE new' 'add --quiet STORE new' 'add --if-new STORE new' 'remove STORE gone'; do
        echo "--- $file: $command"
        sstore build --quiet --force STORE input
        damaged=$(find STORE -name "$file")
        flip "$damaged" $(($(stat -c %s "$damaged") * 3 / 4))
        code=0
        [ "$file $command" != 'table-00.blk add --if-new STORE new' ] || code=3
        # shellcheck disable=SC2086
        exits $code sstore $command 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
        sstore stat STORE | sed -n 's/^segments *//p'
        sstore query -k 0 STORE 1 | cut -f 4
        sstore query -k 0 --limit 1 STORE "$(cat gone)" | wc -l
        exits 3 sstore verify --quiet STORE 2>/dev/null
    done
done
exits 3 sstore compact --quiet STORE 2>/dev/null
