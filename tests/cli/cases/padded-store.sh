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
echo "--- words, bytes and bits, with zeros behind them or without; never with something else"
sstore build --quiet --force --pad --no-ids STORE rows
sstore dump STORE >before
sed 's/$/000000/' rows | sstore add STORE
python3 - <<'PYTHON'
import json, struct
rows = [bytes.fromhex(line) for line in open("rows")]
def npy(path, kind, data, columns):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(rows)}, {columns}), }}".ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.encode() + data)
def write(name, rows):
    full = [row + bytes(24 - len(row)) for row in rows]
    words = [struct.pack("<3Q", *struct.unpack(">3Q", row)) for row in full]
    npy(f"{name}.npy", "<u8", b"".join(words), 3)
    npy(f"{name}24.npy", "|u1", b"".join(full), 24)
    open(f"{name}.u64", "wb").write(b"".join(words))
    open(f"{name}.rec", "wb").write(b"".join(word + bytes(8) for word in words))
    for size in (len(rows[-1]), 24):
        with open(f"{name}{size}.jsonl", "w") as file:
            for row in full:
                print(json.dumps({"fingerprint": list(row[:size])}), file=file)
    with open(f"{name}.parts", "w") as file:
        for row in full:
            print(*struct.unpack(">3Q", row), file=file)
write("good", rows)
npy("good21.npy", "|u1", b"".join(rows), 21)
npy("bits.npy", "|u1", bytes(int(bit) for row in rows for bit in f"{int.from_bytes(row, 'big'):0168b}"), 168)
write("bad", rows[:-1] + [rows[-1] + b"\0\0\1"])
PYTHON
parts="--radix dec --columns fingerprint,fingerprint,fingerprint"
for form in .u64 .npy 21.npy 24.npy 21.jsonl 24.jsonl .parts; do
    options=$([ $form = .parts ] && echo $parts)
    sstore query --count -k 0 $options --input good$form STORE | cut -f 2 | sort | uniq -c
    sstore add $options STORE good$form
done
sstore query --count -k 0 --input bits.npy STORE | cut -f 2 | sort | uniq -c
for form in .u64 .npy 24.npy .rec 24.jsonl .parts; do
    options=$([ $form = .parts ] && echo $parts; [ $form = .rec ] && echo "--columns fingerprint,-")
    exits 1 sstore query --count $options --input bad$form STORE
    exits 1 sstore add $options STORE bad$form
    sstore add --skip-bad $options STORE bad$form
    exits 1 sstore build --quiet --force --pad --bits 168 $options NEW bad$form
done
sed 's/]/, 0]/' good24.jsonl >long.jsonl
exits 1 sstore add STORE long.jsonl
for form in 21.npy 21.jsonl bits.npy; do # a build learns the size of all forms
    sstore build --quiet --force --pad NEW ${form/#21/good21}
    sstore stat NEW | grep recipe
done
cmp before <(sstore dump STORE)
echo "--- an input of another size behind one of words, whose records would be lost"
sed 's/$/000001/' rows | sstore build --quiet --force WIDE -
sstore dump --format rec WIDE >wide.rec
sed 's/$/\t7/' rows >rows.id
exits 1 sstore build --quiet --force --pad NEW wide.rec rows.id
exits 1 sstore build --quiet --force --pad NEW rows.id wide.rec
echo "--- what dump prints is built as it was"
sstore build --quiet --pad PADDED rows
head -5 rows | cut -c 1-9 | sstore build --quiet --pad --recipe mine PADDED36
for store in PADDED PADDED36; do
    for format in text jsonl rec; do
        sstore dump --format $format $store >dump.$format
        rm -rf NEW
        sstore build --quiet NEW dump.$format
        sstore stat NEW | grep recipe
        diff -r NEW $store
    done
done
