# A store with --pad keeps the number of bits of its fingerprints: rows and queries of that size, or with the zeros
# written, are filled up without being asked, and others are refused.
exec 2>&1
hex_rows() { python3 -c '
import random, sys
random.seed(int(sys.argv[3]))
for _ in range(int(sys.argv[1])):
    print("%0*x" % (int(sys.argv[2]), random.getrandbits(4 * int(sys.argv[2]))))' "$@"; }
hex_lines() { od -An -v -tx1 -w21 | tr -d ' '; } # of 21 bytes
for digits in 9 42 250; do
    hex_rows 30 $digits 7 >rows
    hex_rows 5 $digits 8 >others
    sstore build --quiet --force --pad STORE rows
    sstore stat STORE | grep recipe
    sstore query STORE "$(head -1 rows)" | wc -l
    sstore query --count --input rows STORE | cut -f 2 | sort | uniq -c
    sed 's/.$//' rows >short
    sed 's/$/0/' rows >long
    exits 1 sstore query --input short STORE | cut -c 1-100
    exits 1 sstore add STORE long | cut -c 1-100
    exits 1 sstore add --pad STORE long | cut -c 1-100
    sstore add STORE others
    sstore add --if-new STORE rows | grep -c new
    sstore dump STORE | sstore add STORE
    sed 's/$/\t3/' others | sstore remove STORE
    sstore remove STORE rows
done
echo "--- other forms and recipes"
for _ in 1 2 3; do head -c 21 /dev/urandom | base64; done >base64
sstore build --quiet --force --pad --radix base64 --recipe 'my words' STORE base64
sstore stat STORE | grep recipe
sstore query --radix base64 --count --input base64 STORE | cut -f 2 | uniq
sstore query --radix base64 STORE "$(head -1 base64)" | wc -l
base64 -d base64 | hex_lines | sed 's/.*/{"fingerprint": "&"}/' >rows.jsonl
sstore query --count --input rows.jsonl STORE | cut -f 2 | uniq
{ echo "# recipe: my words"; base64 -d base64 | hex_lines; } >hex
sstore add --quiet STORE hex
sed 's/my/your/' hex >other
exits 1 sstore add STORE other
sstore build --quiet --force --pad NEW hex
sstore stat NEW | grep recipe
exits 1 sstore build --quiet --force --pad --recipe yours NEW hex
echo "--- bits that are given"
hex_rows 30 42 9 | sed 's/.$/0/' >fps
sstore build --quiet --force --pad --bits 166 STORE fps
sstore stat STORE | grep recipe
sstore query --count --input fps STORE | cut -f 2 | uniq
echo "--- decimal numbers, in text and JSON"
hex_rows 30 42 10 >rows
python3 -c 'for line in open("rows"): print(int(line, 16))' >numbers
sed 's/.*/{"fingerprint": &}/' numbers >numbers.jsonl
sstore build --quiet --force --pad STORE rows
sstore query --count -k 0 --radix dec --input numbers STORE | cut -f 2 | uniq
sstore query --count -k 0 --radix dec --input numbers.jsonl STORE | cut -f 2 | uniq
sstore query -k 0 --radix dec STORE "$(head -1 numbers)" | wc -l
sstore add --if-new --radix dec STORE numbers | grep -c new
sstore build --quiet --pad --bits 168 --radix dec NUMBERS numbers
cmp <(sstore dump STORE) <(sstore dump NUMBERS)
sstore stat NUMBERS | grep recipe
exits 1 sstore add --radix dec STORE - <<<374144419156711147060143317175368453031918731001856 # 2^168
exits 1 sstore add --radix dec STORE - <<<-1
