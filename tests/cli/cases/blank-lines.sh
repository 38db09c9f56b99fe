# A blank line, be it the first, one in the middle or the last, is passed over wherever rows are read.
exec 2>&1
blanks() # the lines of stdin, with blank ones around them, of which the first has a byte order mark
{
    printf '\xef\xbb\xbf\n\n'
    sed 's/$/\n \t\r/'
    printf '\n\r\n  '
}
compare() # LINES COMMAND...: the command prints the same for the lines and for those with blanks
{
    local lines=$1
    shift
    printf "$lines" | exits 0 "$@" >expected
    [ -s expected ] || echo "nothing is printed: $*"
    printf "$lines" | blanks | exits 0 "$@" >found
    cmp expected found || echo "FAILED: $*"
}
build() { rm -rf STORE && sstore build --quiet -k 3 "$@" STORE && sstore dump STORE; }
remove() { rm -rf COPY && cp -r SET COPY && sstore remove --no-compact "$@" COPY && sstore dump COPY; }
count_words() { rm -f table && sstore idf --jsonl table - && cat table; }
printf '0123456789abcdef 1\n1123456789abcdef 2\nffff456789abcdef 3\n' | sstore build --quiet -k 3 SET
compare '0123456789abcdef 1\n1123456789abcdef 2\n' build
compare '0123456789abcdef\n1123456789abcdef\n' build --columns fingerprint
compare '0123456789abcdef\tx\t1\n1123456789abcdef\ty\t2\n' build --columns fingerprint,-,id
compare '81985529216486895\n1234605616436508552\n' build --radix dec
compare 'ASNFZ4mrze8=\nESNFZ4mrze8=\n' build --radix base64
compare '{"fingerprint":"0123456789abcdef","id":1}\n{"fingerprint":"1123456789abcdef","id":2}\n' build --format jsonl
compare '0123456789abcdef\n0123456789abcdee\n' sstore query SET
compare '{"fingerprint":"0123456789abcdef"}\n' sstore query --format jsonl SET
compare '1123456789abcdef 2\nffff456789abcdef 3\n' remove
compare '1\n3\n' remove --ids
compare '{"id":1}\n{"id":3}\n' remove --ids --format jsonl
compare '1 2\n2 3\n7 8\n' sstore clusters --edges -
compare '0000000000000001\t0000000000000003\t1\t5\n0000000000000001\t0000000000000003\t1\t4\n' sstore collect
printf '0123456789abcdef\n' >queries
compare '0123456789abcdef 1\n1123456789abcdef 2\n' sh -c 'sstore scan --queries queries | sort'
compare '0123456789abcdef\n1123456789abcdef\n' sh -c 'sstore scan --queries /dev/stdin queries | sort'
compare 'the\non\n' sstore fingerprint --stop-words /dev/stdin --shingle 1 queries
compare 'the\t1\non\t2\n' sstore fingerprint --feature-weights /dev/stdin --shingle 1 queries
compare '{"text":"one","id":"a"}\n{"text":"two","id":"b"}\n' sh -c 'sstore fingerprint --jsonl --id-field id | cut -f 1,3'
compare '{"text":"one"}\n{"text":"two"}\n' count_words
