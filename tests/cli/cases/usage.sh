# Wrong usage exits 2 with a message on stderr, and nothing on stdout.
exits 2 sstore
exits 2 sstore frobnicate
exits 2 sstore help frobnicate
exits 2 sstore --frobnicate
for command in build reindex merge shard query plan stat verify dump; do
    exits 2 sstore $command
    exits 2 sstore $command --frobnicate STORE
done
exits 2 sstore stat STORE another
exits 2 sstore verify STORE another
exits 2 sstore reindex STORE another
exits 2 sstore dump STORE another
exits 2 sstore stat --jso=1 STORE
exits 2 sstore build --plan
exits 2 sstore build STORE - -
exits 2 sstore query --input queries STORE 1
exits 2 sstore query STORE 1 -
exits 2 sstore query STORE 1 xyz
echo 1 >queries.txt && exits 2 sstore query STORE queries.txt
exits 2 sstore query STORE 1234567890123456g
exits 2 sstore query STORE ''
exits 2 sstore query --radix dec STORE ff
absent STORE
