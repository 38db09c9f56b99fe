# --exclude leaves fingerprints out of pairs, clusters, join, dedup and 'add --if-new', perhaps with what is near them.
hot=00000000000000ff
near=00000000000000fe
other=123456789abcdef0
printf '%s\t%s\n' $hot 1 $hot 2 $near 3 $other 4 ${other/f0/f1} 5 | sstore build --quiet s.store
printf '%s\t%s\n' $hot 11 ${other/f0/f2} 12 | sstore build --quiet t.store
echo $hot >hot
echo "--- pairs"
sstore pairs s.store --exclude hot
sstore pairs s.store --exclude hot --exclude-distance 1
echo "--- clusters; nothing that is left out is a single, and nothing is connected through it"
sstore clusters s.store --exclude hot --singles
sstore clusters s.store --exclude <(echo $near) --exclude-distance 0 --singles --json
echo "--- join"
sstore join s.store t.store --exclude hot
echo "--- add --if-new: each record is answered"
printf '%s\n' $hot $near 0f0f0f0f0f0f0f0f | sstore add --if-new --exclude hot --exclude-distance 1 t.store
printf '%s\n' 0f0f0f0f0f0f0f0f $hot ffffffff00000000 >more
sstore add --if-new --exclude hot --json t.store more
sstore dump t.store
echo "--- dedup: they are kept, also beside a store, and not added to it"
printf '{"fp":"%s","n":%d}\n' $hot 1 $hot 2 $other 3 $other 4 | sstore dedup --jsonl --fingerprint-field fp --exclude hot --update u.store
sstore dump u.store
echo "--- wide"
wide=${hot}${hot}${hot}${hot}
printf '%s\t%s\n' $wide 1 $wide 2 ${wide/ff/fe} 3 ${other}$other$other$other 4 ${other}$other$other$other 5 | sstore build --quiet w.store
sstore pairs w.store --exclude <(echo $wide)
sstore clusters w.store --exclude <(echo $wide)
sstore join w.store w.store 2>&1 | head -1
cp -r w.store v.store
sstore join w.store v.store --exclude <(echo $wide) --exclude-distance 1
echo "--- refused"
exec 2>&1
exits 2 sstore pairs --exclude-distance 1 s.store
exits 2 sstore clusters --edges hot --exclude hot
exits 2 sstore add --exclude hot s.store
exits 1 sstore pairs --exclude missing s.store
exits 1 sstore pairs --exclude <(echo $wide) s.store
exits 2 sstore pairs --exclude hot --exclude-distance 17 s.store
