# Documents in folders, in JSON, compressed and in other encodings; what is no text is refused.
mkdir -p folder/sub/deeper
printf 'The cat sat on the mat.\n' >folder/b
printf 'the cat sat on a mat' >folder/a
printf 'we all scream for ice cream' >folder/sub/c
printf 'the\0cat' >folder/sub/image
iconv -t UTF-16 folder/b >folder/sub/deeper/utf16
ln -s ../b folder/sub/link
ln -s folder linked
echo "--- folders, in the order of their paths"
exits 0 sstore fingerprint --no-comments --recursive folder 2>&1
exits 0 sstore fingerprint --no-comments --recursive folder/b linked folder/sub/c 2>&1
exits 0 sstore fingerprint --no-comments --recursive folder/sub/deeper 2>&1
: >folder/empty
exits 0 sstore fingerprint --no-comments --recursive --skipped list folder >/dev/null 2>&1
cat list && rm folder/empty
exits 1 sstore fingerprint --no-comments --recursive folder/b absent 2>&1
exits 1 sstore fingerprint --no-comments folder 2>&1
sstore fingerprint --no-comments --recursive --lines folder/b folder/a
echo "--- an operand that is no folder is read as without --recursive: a pipe, a dangling link"
exits 0 sstore fingerprint --no-comments --recursive <(cat folder/b) | cut -f 1
ln -s nowhere dangling
exits 1 sstore fingerprint --no-comments --recursive dangling 2>&1
echo "--- compressed, by the first bytes"
gzip -c folder/b >compressed
zstd -qc folder/a >"other"
sstore fingerprint --no-comments compressed other folder/b folder/a
cat compressed compressed | sstore fingerprint --no-comments --lines
gzip -c folder/b | head -c 30 | exits 1 sstore fingerprint --no-comments 2>&1
echo "--- other encodings"
exits 1 sstore fingerprint --no-comments folder/b folder/sub/deeper/utf16 2>&1
exits 1 sstore fingerprint --no-comments folder/sub/image 2>&1
exits 1 sstore fingerprint --no-comments --lines folder/sub/deeper/utf16 2>&1
exits 0 sstore fingerprint --no-comments --binary folder/sub/image
for encoding in UTF-16 UTF-16LE UTF-16BE UTF-32; do
    iconv -t "$encoding" folder/b folder/a >encoded
    sstore fingerprint --no-comments --lines --encoding "$encoding" encoded
    gzip -c encoded | sstore fingerprint --no-comments --lines --encoding "$encoding" | cut -f 1 | tr '\n' ' '
    echo
done
printf '\xd6\xd0\xce\xc4 \xff abc' | exits 0 sstore fingerprint --no-comments --encoding GB18030 # with a byte that is wrong there
printf '中文 \xff abc' | exits 0 sstore fingerprint --no-comments 2>&1
exits 2 sstore fingerprint --no-comments --encoding no-such folder/b 2>&1 | head -1
exits 2 sstore fingerprint --no-comments --encoding UTF-16 --binary folder/b 2>&1 | head -1
echo "--- an encoding in pieces of any size"
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "%s%s", i % 7 ? "é漢😀" : "x", i % 100 ? " " : "\n" }' >long
iconv -t UTF-16LE long >encoded
sstore fingerprint --no-comments --lines long >plain
sstore fingerprint --no-comments --lines --encoding UTF-16LE encoded | cmp plain -
dd if=encoded bs=333 status=none | sstore fingerprint --no-comments --lines --encoding UTF-16LE | cmp plain -
echo "--- JSON Lines"
cat >documents <<'END'
{"text": "The cat sat on the mat.", "id": 7}
{"id": 8, "url": "http://example.org/\"a\"", "page": {"text": "no", "body": {"text": "yes"}}, "text": "the cat sat on a mat"}
{"text": "", "id": 18446744073709551615}
{"text": null, "id": 3}
{"page.text": "dotted", "page": {"text": "within"}, "text": "we all\u0000scream \u4e2d\u6587", "id": 4}
END
exits 0 sstore fingerprint --no-comments --jsonl documents 2>&1
exits 0 sstore fingerprint --no-comments --jsonl --id-field id documents 2>/dev/null
exits 1 sstore fingerprint --no-comments --jsonl --id-field url documents 2>&1
sed 's/"id": \([0-9]*\)/"id": "doc \1"/' documents | exits 0 sstore fingerprint --no-comments --jsonl --id-field id 2>messages
sed '1s/"id": 7/"id": "doc"/' documents | exits 1 sstore fingerprint --no-comments --jsonl --id-field id 2>&1
sed -n 2p documents | sstore fingerprint --no-comments --jsonl --text-field page.body.text
sed -n 5p documents | sstore fingerprint --no-comments --jsonl --text-field page.text
printf '{"text":"dotted"}' | sstore fingerprint --no-comments --jsonl
# A text with escapes, and the same in a file.
printf '{"text":"caf\\u00e9 \\"au lait\\"\\n\\ud83d\\ude00\\tau\\/lait","id":"\\u00e9"}' |
    sstore fingerprint --no-comments --jsonl --id-field id
printf 'caf\303\251 "au lait"\n\360\237\230\200\tau/lait' | sstore fingerprint --no-comments
exits 0 sstore fingerprint --no-comments --jsonl --first-id 5 documents 2>/dev/null | tail -1
echo "--- wrong lines, after the documents before them"
for line in '{"text":1}' '{"txt":""}' '{"text":["a"]}' '{"text":"a"' '"text"' '{"text":"a","text":"b"}' "{\"text\":\"\\udc00\"}"; do
    (sed -n 1p documents; printf '%s\n' "$line") | exits 1 sstore fingerprint --no-comments --jsonl 2>&1
done
printf '{"text":"a","id":-1}\n' | exits 1 sstore fingerprint --no-comments --jsonl --id-field id 2>&1
printf '{"text":"a","id":null}\n' | exits 1 sstore fingerprint --no-comments --jsonl --id-field id 2>&1
printf '{"text":"a","id":"a\\u0000b"}\n' | exits 1 sstore fingerprint --no-comments --jsonl --id-field id 2>&1
echo "--- blank lines are passed over, and the numbers of documents are still those of lines"
(printf '\n \t\n'; sed -n 1,2p documents; printf '\r\n'; sed -n 5p documents; printf ' \n\n') >blanks
exits 0 sstore fingerprint --no-comments --jsonl --skipped list blanks 2>&1
cat list
exits 0 sstore fingerprint --no-comments --jsonl --id-field id blanks
printf '\xef\xbb\xbf\n' | exits 0 sstore fingerprint --no-comments --jsonl 2>&1
printf '\n{"text":"a"}\n\n' | exits 0 sstore fingerprint --no-comments --jsonl --first-id 18446744073709551614 2>&1
printf '{"text":"a"}\n\n{"text":"a"}\n' | exits 1 sstore fingerprint --no-comments --jsonl --first-id 18446744073709551614 2>&1 >/dev/null
printf '{"text":"a"}\n\n\n{"text":"a"}\n' | exits 1 sstore fingerprint --no-comments --jsonl --first-id 18446744073709551614 2>&1 >/dev/null
echo "--- options that do not go together"
exits 2 sstore fingerprint --no-comments --jsonl --lines documents 2>&1 | head -1
exits 2 sstore fingerprint --text-field a documents 2>&1 | head -1
exits 2 sstore fingerprint --no-comments --lines --id-field=a documents 2>&1 | head -1
exits 2 sstore fingerprint --weighted --recursive documents 2>&1 | head -1
