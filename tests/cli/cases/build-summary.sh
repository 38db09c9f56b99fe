# A summary in a line goes to stderr, nothing to stdout; --quiet says nothing. The bytes of a fingerprint are stated from 10,000
# fingerprints on.
printf '1 1\n1 2\n1 1\n2 7\n' >input
sstore build STORE input 2>message
sed 's/bytes [0-9]*/bytes N/' message
seq 7919 7919 79190000 | sstore build --radix dec LARGE - 2>&1 | sed 's/bytes [0-9]*/bytes N/; s/[0-9][0-9.]*$/N/'
sstore compact STORE 2>&1 | sed 's/[0-9]*$/N/'
sstore build EMPTY - </dev/null 2>&1 | tail -1
sstore build --quiet --force STORE input
sstore dump STORE
