# Changes that likely are not meant: an input that is added once more, ids that a store drops, ids that are not there.
exec 2>&1
fingerprints 200 91 >input
fingerprints 200 92 >other
echo "--- added once more"
sstore build --quiet STORE input
exits 0 sstore add --quiet STORE other
exits 1 sstore add --strict STORE input
exits 1 sstore add --strict STORE - <<<"$(head -3 other)"
exits 0 sstore add STORE <<<"$(head -2 other)"
exits 0 sstore add STORE input
{ cat input; fingerprints 60 93; } >longer
exits 0 sstore add STORE longer
{ head -100 input; fingerprints 100 94; } >half
exits 0 sstore add --strict STORE half
sstore dump STORE >records
exits 0 sstore add --strict STORE records
printf '%016x%016x\n' 1 2 3 4 5 6 >wide
sstore build --quiet --bits 128 WIDE wide
exits 1 sstore add --strict WIDE wide
echo "--- ids for a store without ids"
paste input <(seq 200) >with-ids
sstore build --quiet --no-ids NONE input
exits 0 sstore add NONE with-ids
exits 1 sstore add --strict NONE with-ids
exits 0 sstore add --columns fingerprint,- --strict NONE with-ids
exits 0 sstore add --if-new --limit 1 NONE with-ids | wc -l
exits 1 sstore remove --strict NONE with-ids
exits 0 sstore remove --quiet NONE with-ids
echo "--- ids that are not in the store"
printf '%s\n' 3 100000 7 100000 99999 >ids
exits 0 sstore remove --ids --absent gone STORE ids
cat gone
exits 0 sstore remove --ids --absent gone STORE ids
cat gone
exits 0 sstore remove --ids STORE ids
exits 0 sstore remove --quiet --ids STORE ids
exits 0 sstore remove STORE - <<<ffff
exits 2 sstore remove --absent gone STORE ids
exits 2 sstore remove --ids --absent - STORE ids
exits 1 sstore remove --ids --absent none/gone STORE ids
exits 1 sstore remove --ids --absent /dev/full STORE ids
sstore verify STORE
echo "--- records with ids that are not in the store"
sstore build --quiet PAIRS - <<<"$(head -3 with-ids)"
{ head -2 with-ids; head -3 with-ids | sed 's/$/7/'; } >some
exits 0 sstore remove PAIRS some
exits 0 sstore remove PAIRS some
exits 0 sstore remove --quiet PAIRS some
echo "--- ids that also belong to another fingerprint"
fingerprints 200 95 | paste - <(seq 200) >same-ids
sstore build --quiet FIRST with-ids
exits 1 sstore add --strict FIRST same-ids
sstore build --quiet --force FIRST with-ids
exits 1 sstore add --strict --quiet FIRST same-ids
sstore build --quiet --force FIRST with-ids
exits 1 sstore add --if-new --strict FIRST same-ids >answers
exits 0 sstore add --if-new --strict FIRST same-ids >answers
exits 0 sstore add --strict FIRST same-ids
