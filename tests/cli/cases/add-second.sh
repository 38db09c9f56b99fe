# 'add' tells of names that get another fingerprint beside those that the store has for them: mostly changed documents.
export TMPDIR=$PWD
first=0011223344556677 second=8899aabbccddeeff third=0123456789abcdef
printf '%s\t%s\n' $first a $second b | sstore build --quiet --names pages.store
printf '%s\t%s\n' $first a $third c $second c >same.tsv
printf '%s\t%s\n' $second a $third a $third b $second b $first d >changed.tsv
echo "--- present records and new names need no advice"
sstore add pages.store same.tsv 2>&1
echo "--- others do, but not with --replace or --quiet"
cp -r pages.store replaced.store && cp -r pages.store quiet.store
sstore add pages.store changed.tsv 2>&1
sstore dump --no-comments pages.store | sort -k 2
sstore add --replace replaced.store changed.tsv 2>&1
sstore add --quiet quiet.store changed.tsv
echo "--- records that the store now has do not count again"
sstore add pages.store changed.tsv 2>&1
