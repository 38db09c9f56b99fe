# 'build' and 'report' warn of values and prefixes that many records have, of words that repeat, and of constant bits.
warnings() { sstore build --force "$@" s.store 2>&1 >/dev/null | grep warning; sstore report -o /dev/null s.store 2>&1 | grep warning; }
make() { python3 -c "
import random
numbers = random.Random(3)
for i in range(20000):
    $1
" 2>&1; }
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3" >&3
    cat "${BASH_SOURCE[0]%.sh}.stdout"
    exit
fi
echo "--- uniform, and clustered: nothing"
make 'print(f"{numbers.getrandbits(64):016x}")' | warnings
make 'print(f"{numbers.getrandbits(256):064x}")' | warnings
make 'value = numbers.getrandbits(64) if i % 100 == 0 else value ^ 1 << numbers.randrange(64); print(f"{value:016x}")' | warnings
make 'print("00000000000000ff")' | head -900 | warnings
echo "--- values"
make 'print(f"{numbers.choice((0, numbers.getrandbits(64), numbers.getrandbits(64), numbers.getrandbits(64))):016x}")' | warnings
make 'print(f"{numbers.randrange(7) * 0x1234567812345678 & 2**64 - 1:016x}")' | warnings
echo "--- prefixes"
make 'print(f"{numbers.getrandbits(64) >> (16 if i % 20 == 0 else 0):016x}")' | warnings
make 'print(f"{numbers.getrandbits(256) & ~(0xffff << 112 if i % 5 == 0 else 0):064x}")' | warnings
echo "--- words"
make 'word = numbers.getrandbits(64); print(f"{numbers.getrandbits(64):016x}{word:016x}{numbers.getrandbits(64):016x}{word:016x}")' | warnings
echo "--- bits"
make 'print(f"{numbers.getrandbits(48) << 16:016x}")' | warnings
make 'print(f"{numbers.getrandbits(64) | 1 << 40:016x}")' | warnings
make 'print(f"{numbers.getrandbits(60):015x}")' | warnings --bits 60 --pad
echo "--- quiet"
make 'print("00000000000000ff")' | sstore build --quiet --force s.store
true
