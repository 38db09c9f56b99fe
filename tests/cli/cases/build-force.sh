# An existing store is refused without --force, and with it replaced only once the new one is complete.
echo 1 >one
echo 2 >two
echo bad input >bad
sstore build --quiet STORE one
exits 1 sstore build STORE two 2>/dev/null
sstore dump STORE
exits 0 sstore build --quiet --force STORE two
sstore dump STORE
echo "--- a failure leaves the old store as it was"
cp -a STORE COPY
exits 1 sstore build --force STORE bad 2>/dev/null
same STORE COPY
exits 1 sstore build --force STORE two missing 2>/dev/null
same STORE COPY
exits 2 sstore build --force --plan 24:0 STORE one 2>/dev/null
same STORE COPY
sstore verify STORE | sed 's/bytes .*/bytes N/'
echo "--- with --force a new store is made too"
exits 0 sstore build --quiet --force NEW one
sstore dump NEW
echo "--- what is no store is not replaced"
mkdir folder
echo precious >folder/file
exits 1 sstore build folder one 2>/dev/null
exits 1 sstore build --force folder one 2>/dev/null
exits 1 sstore build --force one two 2>/dev/null
cat one folder/file
echo "--- an empty folder may become a store, and is left as it was by a failure"
mkdir empty
exits 1 sstore build empty bad 2>/dev/null
ls -A empty
exits 0 sstore build --quiet empty one
sstore dump empty
ls
