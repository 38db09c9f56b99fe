# Fingerprints state their recipe, stores keep it, and other commands refuse input of another one.
printf 'the cat sat on the mat\nthe cat sat on a mat\n' >lines
cp lines file
short() # the version of Unicode differs from machine to machine
{
    sed -E 's/unicode=[0-9.]*/unicode=.../g'
}
recipe_of() { sstore stat "$1" | sed -n 's/^recipe *//p' | short; }
echo "--- what fingerprint prints"
sstore fingerprint --lines lines | short
sstore fingerprint file lines | short
sstore fingerprint --no-comments file
sstore fingerprint --format rec --lines lines >lines.rec
sstore fingerprint --format rec --no-comments --lines lines >plain.rec
head -c 8 lines.rec | od -A n -t x1
tail -c 32 lines.rec | cmp - plain.rec
echo $(($(stat -c %s lines.rec) % 16))
echo "--- what stores keep"
sstore fingerprint --lines lines | exits 0 sstore build --quiet STORE
recipe_of STORE
sstore fingerprint file lines | exits 0 sstore build --quiet NAMED # the names are skipped
sstore dump NAMED | short
exits 0 sstore build --quiet REC lines.rec
recipe_of REC
diff -r STORE REC && echo equal
sort -r <(sstore fingerprint --lines lines) | exits 0 sstore build --quiet SORTED
recipe_of SORTED
exits 0 sstore build --quiet PLAIN plain.rec
recipe_of PLAIN
exits 0 sstore add --quiet PLAIN lines.rec # a store without a recipe takes any
recipe_of PLAIN
gzip -c lines.rec | exits 0 sstore build --quiet --format rec --compression gzip GZIP
recipe_of GZIP
echo "--- the header tells the format where no name does, also in a compressed pipe"
exits 0 sstore build --quiet PIPED <lines.rec && recipe_of PIPED
gzip -c lines.rec | exits 0 sstore build --quiet PACKED - && diff -r PIPED PACKED && diff -r PIPED REC && echo equal
exits 0 sstore query -k 0 STORE <lines.rec | wc -l
head -c 7 lines.rec | exits 1 sstore build CUT
head -c 20 lines.rec | exits 1 sstore build CUT
(printf 'ff 1\n'; cat lines.rec) | exits 1 sstore build CUT
absent CUT
echo "--- files with headers cannot be joined"
cat lines.rec lines.rec | exits 1 sstore build JOINED - 2>&1
cat lines.rec plain.rec | exits 0 sstore build --quiet JOINED && diff -r JOINED REC && echo equal
echo "--- other columns than stated"
sstore fingerprint file lines | exits 0 sstore build --quiet --columns fingerprint,-,- NUMBERED
sstore dump NUMBERED | short
(echo '# columns: id,fingerprint'; echo '7 ff') | exits 1 sstore build --quiet --columns fingerprint,id OTHER 2>&1
(echo '# columns: id,fingerprint'; echo '7 ff') | exits 0 sstore build --quiet OWN && sstore dump OWN
(echo '# columns: id,name'; echo '7 ff') | exits 1 sstore build --quiet BAD 2>&1
(echo '# any comment'; echo 'ff 1'; echo '#'; echo '#recipe: not'; echo 'fe 2') | exits 0 sstore build --quiet COMMENTS
sstore dump COMMENTS
recipe_of COMMENTS
echo "--- another recipe is refused, by names"
sstore fingerprint --lines --features chars lines >chars
sstore fingerprint --lines --features chars --format rec lines >chars.rec
for input in chars chars.rec; do
    exits 1 sstore add STORE $input 2>&1 | short
    exits 1 sstore add --if-new STORE $input 2>&1 | short
    exits 1 sstore remove STORE $input 2>&1 | short
    exits 1 sstore query STORE --input $input 2>&1 | short
    exits 1 sstore build TWO lines.rec $input 2>&1 | short
    absent TWO
done
exits 1 sstore query STORE <chars 2>&1 | short
exits 1 sstore build --recipe another TWO chars 2>&1 | short
cat <(sstore fingerprint --lines lines) chars | exits 1 sstore build TWO 2>&1 | short
absent TWO
exits 1 sstore scan --queries chars lines.rec 2>&1 | short
exits 1 sstore scan --queries lines.rec plain.rec chars.rec 2>&1 >matches | short
exits 0 sstore scan -k 0 --queries lines.rec lines.rec | wc -l
exits 1 sstore report --queries chars -o page.html STORE 2>&1 | short
absent page.html
exits 0 sstore query STORE --input lines.rec | wc -l
exits 0 sstore build --quiet --recipe "$(sstore fingerprint --recipe)" SAME lines.rec && recipe_of SAME
echo "--- malformed headers"
header() { printf '\x89sstore\n%b' "$1"; }
header '\x01\0\0\0\0\0\0\0' | exits 1 sstore build --format rec TWO 2>&1
header '\x01\x20\0\0\0\0\0\0' | exits 1 sstore build --format rec TWO 2>&1
header '\x02\0\0\0\0\0\0\0a\nbbbbbbbbbbbbbb' | exits 1 sstore build --format rec TWO 2>&1
header '\0' | exits 1 sstore build --format rec TWO 2>&1
absent TWO
header '\0\0\0\0\0\0\0\0' | exits 0 sstore build --quiet --format rec --allow-empty TWO # no recipe
recipe_of TWO
