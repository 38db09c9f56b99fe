# Rows that can be read, but likely mean something else: one warning names the sign, the meaning and the option, and with
# --strict it is an error before anything is changed.
exec 2>&1
fingerprints 400 81 >right
try() # NAME ARGUMENT...: a doubtful input, as it is and with --strict
{
    echo "--- $1"
    exits 0 sstore build --force STORE "${@:2}" 2>&1 | grep warning
    sstore build --quiet --force OLD right
    cp -r OLD before
    exits 1 sstore build --force --strict OLD "${@:2}"
    same before OLD
    rm -r before
}
numbers_of() { local row; while read -r row; do echo $((0x$row $1)); done <right; } # an expression of each row
numbers_of ">> 32 & 0xffffffff" >decimal
try "decimal numbers as hex" decimal
numbers_of "<< 32 >> 32" >signed
try "signed numbers of 32 bits" --radix dec signed
try "such numbers among others" --radix dec signed decimal
seq 1000 1399 | paste - <(numbers_of "& 0x7fffffffffffffff") >ids-first
try "ids first" ids-first
seq 400 >numbers
try "numbers of lines" numbers
while read -r row; do printf "$row" | base64 -w 0; echo; done <right >text-in-base64
try "base64 of hex text, as bytes" --bits 128 --radix base64 text-in-base64
paste -d '' right right right right | tr -d '\n' | fold -w 64 | head -100 >wide
try "hex as base64" --radix base64 wide
paste -d '' right right right right | tr 0123456789abcdef ABCDEFGHIJKL2345 >base32
try "base32 as base64" --radix base64 base32
sed 's/./0&/g; s/[0-7]/0/g; s/[8-9a-f]/1/g' right >bits
try "bits in bytes" --bits 128 bits
numbers_of "/ 4000 * 4000" >rounded
try "rounded numbers" --radix dec rounded
sed 's/-*\(.*\)/{"fingerprint": \1}/' rounded >rounded.jsonl
try "rounded numbers of JSON" rounded.jsonl
printf '%s\t%s\n' 84ad7e0ad13e1a8b 1 84ad7e0ad13 2 7d1b94a0c3f5e682 3 0 4 >short
try "a short row" short
sed '5s/.*/0/; 200s/....$//; 300s/.$//' right >short
try "some short rows" short
sed 's/.*/{"fingerprint": "&"}/' short >short.jsonl
try "some short rows of JSON" short.jsonl
paste -d '' right right | sed '200s/.....$//' >short
try "a short row of 128 bits" --bits 128 short
sed 's/0/0000/g; s/1/0001/g; s/[2-9a-d]/0110/g; s/e/1110/g; s/f/1111/g; 200s/.$//' right >short
try "a short row of binary digits" --radix bin --bits 64 short
{ cat right; echo "zz"; } >one-bad
exits 0 sstore build --quiet --force STORE one-bad --skip-bad --strict
{ head -3 right; sed 's/^/z/' right; } >most-bad
exits 0 sstore build --force STORE most-bad --skip-bad
exits 1 sstore build --force STORE most-bad --skip-bad --strict
python3 -c '
import base64, random, struct
random.seed(83)
numbers = random.Random(84)
bits = random.getrandbits
def write(name, rows):
    with open(name, "w") as file:
        file.writelines(f"{row}\n" for row in rows)
def encoded(form, size):
    return [base64.b64encode((form % bits(size)).encode()).decode() for _ in range(9)]
full = ["%016x" % (bits(63) | 1 << 63) for _ in range(60)]
write("halves", (row[:7] if i % 7 == 2 else row for i, row in enumerate(full)))
write("one-cut-number", (str(int(row, 16))[: 7 if i == 8 else 20] for i, row in enumerate(full)))
write("wide-rows", ("%064x" % bits(256) for _ in range(20)))
write("narrow-rows", ("%040x" % bits(160) for _ in range(20)))
write("narrow-bits", (format(bits(60), "060b") for _ in range(20)))
write("swapped", ("%d\t%d" % (random.randrange(1, 900000), bits(64)) for _ in range(25)))
write("times", (1650000000 + 91 * i + random.randrange(80) for i in range(40)))
write("shuffled", numbers.sample(range(1, 201), 200))
write("twice", 2 * list(range(1, 16)))
write("counts", ("%7d %d" % (numbers.choice((1, 1, 2, 3)), bits(64)) for _ in range(30)))
write("few-decimal", (random.randrange(10**15, 10**16) for _ in range(4)))
write("few-signed", (-bits(31) for _ in range(4)))
write("doubles", (int(float(bits(63) | 1 << 63)) for _ in range(12)))
write("true-zeros", (bits(48) << 16 for _ in range(200)))
write("true-halves", (numbers.getrandbits(32) << 32 for _ in range(200)))
write("qualities", ("%016x\t%d" % (bits(64), random.choice((99, 80, 91))) for _ in range(40)))
write("columns", ("%d\t%d\t%d\t%d" % (bits(16), bits(16), bits(16), bits(16)) for _ in range(9)))
write("text-0x", encoded("0x%016x", 64))
write("text-line", encoded("%016x\n", 64))
write("text-60", encoded("%015x", 60))
write("text-decimal", encoded("%020d", 64))
for name, low, high in (("signs", 1, 255), ("black-white", 0, 255)):
    with open(name + ".npy", "wb") as file:
        head = str({"descr": "|u1", "fortran_order": False, "shape": (20, 64)}).ljust(117) + "\n"
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        file.write(bytes(random.choice((low, high)) for _ in range(20 * 64)))
with open("mixed.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
    file.write(bytes(numbers.choice((0, 255 if i // 64 == 7 else 1)) for i in range(20 * 64)))
with open("doubles.u64", "wb") as file:
    file.write(b"".join(struct.pack("<d", numbers.getrandbits(64)) for _ in range(12)))
with open("shard.u64", "wb") as file:
    file.write(b"".join(struct.pack("<Q", 0x43d << 52 | numbers.getrandbits(52)) for _ in range(200)))
'
try "many short rows" halves
try "a short number" --radix dec one-cut-number
try "ids and fingerprints swapped" --radix dec swapped
try "times" --radix dec times
try "four decimal numbers" few-decimal
try "four signed numbers" --radix dec few-signed
try "doubles" --radix dec doubles
try "a quality as id" qualities
try "shuffled numbers" shuffled
try "ids twice" --radix dec twice
try "counts of uniq" --radix dec counts
try "doubles as words" doubles.u64
try "parts of columns" --radix dec --columns fingerprint,fingerprint,fingerprint,fingerprint --bits 128 columns
for form in 0x line 60 decimal; do
    try "text in base64, padded: $form" --radix base64 --pad "text-$form"
done
try "bytes 1 and -1" signs.npy
try "bytes 0 and 255" black-white.npy
try "a row of 255 among 0 and 1" mixed.npy
exits 0 sstore build --quiet --force --strict --radix dec STORE true-zeros
exits 0 sstore build --quiet --force --strict --radix dec STORE true-halves
exits 0 sstore build --quiet --force --strict STORE shard.u64
echo "--- rows that all lack digits of the store's fingerprints"
sstore build --quiet --force STORE wide-rows
exits 1 sstore add --strict --bits 256 STORE narrow-rows
exits 1 sstore query --strict --bits 256 --count --input narrow-rows STORE >printed
exits 1 sstore remove --strict --bits 256 STORE narrow-rows
sstore query --bits 256 STORE 1
sstore build --quiet --force STORE right
exits 1 sstore add --strict --bits 64 --radix bin STORE narrow-bits
echo "--- other commands"
sstore build --quiet --force STORE right
exits 0 sstore query -k 0 --input decimal STORE >printed
exits 1 sstore query -k 0 --strict --input decimal STORE >printed
exits 0 sstore query -k 0 STORE <decimal >printed
exits 1 sstore query -k 0 --strict STORE <decimal >printed
exits 0 sstore scan --queries right decimal >printed
exits 0 sstore scan --queries decimal right >printed
exits 1 sstore scan --strict --queries decimal right >printed
exits 0 sstore plan --sample decimal --json >printed
exits 1 sstore plan --sample decimal --strict >printed
sstore add STORE decimal --quiet
sstore add STORE numbers >printed
exits 1 sstore add --strict STORE numbers >printed
exits 1 sstore add --if-new --strict STORE signed --radix dec >printed
exits 1 sstore remove --strict STORE numbers >printed
exits 0 sstore remove --quiet STORE numbers
exits 0 sstore remove --quiet --ids STORE numbers
echo "--- no doubt"
printf '%s\n' ff ff00 fe >few
sstore build --quiet --force --strict STORE right few
for radix in hex dec; do
    sstore build --quiet --force --strict STORE decimal --radix $radix
done
sort right >sorted
sstore build --quiet --force --strict STORE right
sstore dump STORE >dumped
for radix in dec signed base64 bin; do
    sstore dump --radix $radix --columns id,fingerprint STORE >dumped
    sstore build --quiet --force --strict NEW --radix $radix --columns id,fingerprint dumped
done
for format in u64 rec npy npy-bytes jsonl; do
    sstore dump --format $format STORE >dumped
    sstore build --quiet --force --strict --bits 64 NEW --format ${format%-bytes} dumped
done
sstore build --quiet --force --strict NEW sorted
sed 's/^0*//' right | sstore build --quiet --force --strict NEW -
clustered 400 82 | sstore build --quiet --force --strict NEW -
printf '%s\n' 0 1 2 | sstore build --quiet --force --strict NEW -
printf '%s\n' 0 ffffffffffffffff | sstore build --quiet --force --strict NEW -
