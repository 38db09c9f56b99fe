# What joins refuse, and what they do when they cannot go on.
fingerprints 50 1 | sstore build --quiet --recipe one A
fingerprints 50 1 | sstore build --quiet --recipe two B
exits 1 sstore join A B
exits 1 sstore pairs NONE
exits 1 sstore clusters NONE
exits 1 sstore join A NONE
echo "--- usage"
exits 2 sstore pairs
exits 2 sstore pairs A B
exits 2 sstore join A
exits 2 sstore join A B A
exits 2 sstore clusters --drop --representatives A
exits 2 sstore clusters --singles --drop A
exits 2 sstore pairs -k 17 A
exits 2 sstore pairs --memory 1M A
exits 1 sstore pairs --tmp-dir NONE A
exits 2 sstore pairs --force A
echo "--- a full disk"
yes 00000000000000ff | head -n 200 | sstore build --quiet C
exits 1 sstore pairs C >/dev/full
exits 1 sstore clusters C >/dev/full
sstore pairs C | head -n 1
echo "--- empty"
sstore build --quiet E </dev/null
exits 0 sstore pairs E
exits 0 sstore clusters --singles E
exits 0 sstore join E C
