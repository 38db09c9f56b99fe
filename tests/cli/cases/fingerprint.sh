# Documents as files, as lines, from stdin; numbers go on over files; what is near gets near fingerprints.
printf 'The cat sat on the mat.\n' >mat
printf 'the CAT sat, on the mat' >same
printf '' >empty
exits 0 sstore fingerprint --no-comments mat same empty
exits 0 sstore fingerprint --no-comments - <mat
exits 0 sstore fingerprint --no-comments <mat
echo "--- lines"
printf 'the cat sat on the mat\nthe cat sat on a mat\nwe all scream for ice cream\n' >lines
printf '\nlast line without an end' >more
exits 0 sstore fingerprint --no-comments --lines lines more
exits 0 sstore fingerprint --no-comments --lines --shingle 1 lines
exits 0 sstore fingerprint --no-comments --lines --features chars lines
exits 0 sstore fingerprint --no-comments --lines --features chars --shingle 2 - <lines
echo "--- ids from another number on"
exits 0 sstore fingerprint --no-comments --lines --first-id 7 lines more
exits 0 sstore fingerprint --no-comments --weighted --first-id=10 <(printf 'a\t1\n\nb\t1\n') <(printf 'c\t1\n')
exits 0 sstore fingerprint --no-comments --lines --first-id 18446744073709551613 lines
exits 1 sstore fingerprint --no-comments --lines --first-id 18446744073709551614 lines 2>&1
exits 1 sstore fingerprint --no-comments --weighted --first-id 18446744073709551615 <(printf 'a\t1\n') <(printf '\nc\t1\n') 2>&1 | sed 's/fd.[0-9]*/FD/'
exits 2 sstore fingerprint --no-comments --lines --first-id 18446744073709551616 lines 2>&1
exits 2 sstore fingerprint --no-comments --lines --first-id -1 lines 2>&1
exits 0 sstore fingerprint --no-comments --first-id 5 lines 2>&1
echo "--- the way into a store"
sstore fingerprint --no-comments --lines --features chars lines | exits 0 sstore build --quiet STORE
sstore query STORE -k 64 --limit 2 "$(sstore fingerprint --no-comments --lines --features chars lines | head -1 | cut -f1)"
echo "--- a text with spaces in its path"
cp mat 'a mat'
sstore fingerprint --no-comments 'a mat' mat | exits 0 sstore build --quiet --columns fingerprint,- PATHS
sstore dump PATHS
