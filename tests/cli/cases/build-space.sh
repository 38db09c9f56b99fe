# What does not fit on the disk is refused before it is read, with nothing left behind.
truncate -s 4T large.u64
exits 1 sstore build STORE large.u64 2>message
sed 's/[0-9.]* GB/N GB/g' message
absent STORE
echo 1 | sstore build --quiet OLD
cp -a OLD COPY
exits 1 sstore build --quiet --force --tmp-dir . OLD large.u64 2>/dev/null
same OLD COPY
echo "--- what is said of a build that fits"
truncate -s 80M middle.u64
sstore build --plan 20 STORE middle.u64 2>&1 | sed 's/[0-9.]* GB/N GB/g'
echo "--- of arrays with ids each row is a record, and ids may be long"
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (6000000, 2), }"; head -c 96000000 /dev/zero; } >pairs.npy
sstore build --quiet --progress json --bits 64 PAIRS pairs.npy 2>&1 | grep -o '"done":6000000,"total":6[0-9]*' | head -1
