# Where 'sstore dedup --removed' writes to: a regular file is replaced when all is done, other files are written to.
export TMPDIR=$PWD
printf 'one two three\none two three\nfour five six\n' >lines
sstore dedup --quiet --removed list lines >unique
echo "--- a pipe, and a link to one"
mkfifo pipe && ln -s pipe link
for path in pipe link; do
    timeout 60 cat pipe >got &
    timeout 60 sstore dedup --quiet --removed $path lines | same - unique
    wait
    same got list
done
[ -p pipe ] && [ -L link ] || echo "FAILED: they were replaced"
sstore dedup --quiet --removed >(cat) lines >again | same - list
same again unique
echo "--- a file keeps its mode, and a link leads to the file that is replaced"
echo old >kept && chmod 640 kept && ln -s kept to-kept
sstore dedup --quiet --removed to-kept lines | same - unique
same kept list
stat -c '%a %F' kept to-kept
echo "--- the file of the output, by any name"
exits 1 sstore dedup --removed out lines 2>&1 >out && cat out
ln -s out other && exits 1 sstore dedup --removed other lines 2>&1 >>out
cat out && ls
