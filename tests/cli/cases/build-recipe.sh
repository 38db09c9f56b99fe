# A store keeps its fingerprints' recipe, and a query may insist on it.
echo 1 >input
sstore build --quiet --recipe 'words 3, XXH3 "v1" é' STORE input
sstore stat STORE | grep '^recipe'
sstore stat --json STORE | grep -o '"recipe":"[^}]*é"'
exits 0 sstore query --recipe 'words 3, XXH3 "v1" é' STORE 1
exits 1 sstore query --recipe 'words 4' STORE 1 2>/dev/null
sstore build --quiet PLAIN input
sstore stat PLAIN | grep '^recipe'
sstore stat --json PLAIN | grep -o '"recipe":null'
exits 1 sstore query --recipe 'words 4' PLAIN 1 2>/dev/null
echo "--- a long one is cut within no character"
long=$(printf 'é%.0s' {1..2000})
sstore build --quiet --recipe "$long" LONG input
exits 0 sstore query --recipe "$long" LONG 1
sstore stat --json LONG | grep -c '"recipe":"éé'
exits 2 sstore build --quiet --recipe "$long$long" TOO-LONG input 2>/dev/null
absent TOO-LONG
echo "--- what is no text"
sstore build --quiet --recipe $'a\xff\xc2\x9b1mb' ODD input
sstore stat ODD | grep '^recipe'
sstore stat --json ODD | grep -o '"recipe":"[^"]*"'
exits 1 sstore query --recipe plain ODD 1 2>&1
