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
