# Functions for the cases of the command-line tests.

# Run a command and say so if its exit code is not the first argument: exits CODE COMMAND...
exits()
{
    local expected=$1 code
    shift
    "$@"
    code=$?
    [ "$code" -eq "$expected" ] || echo "FAILED: exit $code instead of $expected: $*"
}

# Say so if two files differ, or two folders' files.
same()
{
    diff -r -- "$1" "$2" >/dev/null || echo "FAILED: $1 and $2 differ"
}

# Say so if a path exists.
absent()
{
    [ ! -e "$1" ] || echo "FAILED: $1 is there"
}

# Wait until a process that was started in the background has a handler for SIGTERM, or has ended: handles_term PID
handles_term()
{
    while kill -0 "$1" 2>/dev/null && ! grep -qsE '^SigCgt:.*[4-7c-f][0-9a-f]{3}$' "/proc/$1/status"; do sleep 0.01; done
}

# COUNT fingerprints from SEED, 16 hex digits a line (SplitMix64): fingerprints COUNT SEED
fingerprints()
{
    local i z state=$2
    for ((i = 0; i < $1; i++)); do
        ((state += 0x9e3779b97f4a7c15))
        ((z = (state ^ (state >> 30 & 0x3ffffffff)) * 0xbf58476d1ce4e5b9))
        ((z = (z ^ (z >> 27 & 0x1fffffffff)) * 0x94d049bb133111eb))
        printf '%016x\n' $((z ^ (z >> 31 & 0x1ffffffff)))
    done
}

# COUNT fingerprints in clusters: each but the first of four is its predecessor with one bit flipped.
clustered()
{
    local i=0 value previous
    while read -r value; do
        ((i % 4 == 0)) || value=$(printf '%016x' $((0x$previous ^ 1 << (0x$value & 63))))
        echo "$value"
        previous=$value
        ((++i))
    done < <(fingerprints "$1" "$2")
}

# The lines that queries must print, found by trying all records of a dump: brute_force DUMP QUERIES DISTANCE
brute_force()
{
    local query fingerprint id bits distance
    while read -r query; do
        while read -r fingerprint id; do
            ((bits = 0x$query ^ 0x$fingerprint, distance = 0))
            while ((bits != 0)); do
                ((bits &= bits - 1, distance++))
                ((distance > $3)) && break
            done
            ((distance <= $3)) && printf '%s\t%s\t%d\t%s\n' "$query" "$fingerprint" "$distance" "$id"
        done <"$1" | sort -t "$(printf '\t')" -k 3n,3 -k 2,2 -k 4n,4
    done <"$2"
}

# Hex digits on stdin as bytes.
unhex()
{
    local digits
    digits=$(tr -d ' \n')
    printf "$(sed 's/../\\x&/g' <<<"$digits")"
}

# Numbers of 16 hex digits, one or more a line, as little-endian 64-bit words.
words()
{
    tr ' ' '\n' | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\8\7\6\5\4\3\2\1/' | unhex
}

# Lines of fingerprint, tab and id with the id in hex too, as words() takes them.
hex_ids()
{
    local fingerprint id
    while IFS=$'\t' read -r fingerprint id; do
        printf '%s %016x\n' "$fingerprint" "$id"
    done
}

# Write a .npy header of version MAJOR with the dict TEXT, padded as NumPy does it: npy_header MAJOR TEXT
npy_header()
{
    local preamble=10 length
    [ "$1" -eq 1 ] || preamble=12
    ((length = (preamble + ${#2} + 1 + 63) / 64 * 64 - preamble))
    printf "\\x93NUMPY\\x0$1\\x00"
    if [ "$1" -eq 1 ]; then
        printf "\\x$(printf %02x $((length & 255)))\\x$(printf %02x $((length >> 8)))"
    else
        printf "\\x$(printf %02x $((length & 255)))\\x$(printf %02x $((length >> 8)))\\x00\\x00"
    fi
    printf '%-*s\n' $((length - 1)) "$2"
}

# Flip the lowest bit of the byte at OFFSET of FILE: flip FILE OFFSET
flip()
{
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# The sums of a store's block and id files, which equal records and options make equal.
block_sums()
{
    (cd "$1" && find . -name '*.blk' | sort | xargs cksum)
}

# Say so if the block and id files of two stores differ.
same_blocks()
{
    [ -n "$(block_sums "$1")" ] || echo "FAILED: $1 has no files"
    same <(block_sums "$1") <(block_sums "$2")
}

# Say so if any files of theirs differ.
same_store()
{
    [ -n "$(block_sums "$1")" ] || echo "FAILED: $1 has no files"
    diff -r "$1" "$2"
}

# Leave out a case where no pseudo-terminal can be made, as in a plain chroot without /dev/pts: needs_terminal CASE.sh
needs_terminal()
{
    script -qec true /dev/null >/dev/null 2>&1 && return
    echo "skipped: no pseudo-terminal can be made here" >&3
    cat "${1%.sh}.stdout"
    exit
}
