# A mistyped command, option or choice is answered with the one that was probably meant, or with how to find all.
exec 2>&1
exits 2 sstore qeury
exits 2 sstore VERIFY
exits 2 sstore finger
exits 2 sstore help stats
exits 2 sstore --verison
exits 2 sstore find
echo "--- commands of other programs"
for word in uniq Dedupe search create index info find delete list simhash; do
    exits 2 sstore $word
done
exits 2 sstore help dedupe
exits 2 sstore ""
exits 2 sstore "del rm"
echo "--- options"
exits 2 sstore query --cuont STORE 1
exits 2 sstore query --cuont=5 STORE 1
exits 2 sstore build --recpie --memory 1G STORE
exits 2 sstore stat --hepl STORE
exits 2 sstore stat --records STORE
exits 2 sstore build --fo STORE
exits 2 sstore query STORE -5
exits 2 sstore query -x STORE
exits 2 sstore query --%s%n STORE
echo "--- choices"
exits 2 sstore build --format txt STORE
exits 2 sstore query --io nmap STORE 1
exits 2 sstore plan --objective speed
