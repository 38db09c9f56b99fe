# JSON Lines: an object per line, whose fingerprint is a string, a number or an array of bytes, under any key.
exec 2>&1
cat >input.jsonl <<'END'
{"fingerprint":"84adfe2d13e12cb","id":1}
{ "id" : "2", "text" : "a } \" { ,", "fingerprint" : "0xFF" }
{"fingerprint":18446744073709551615,"id":18446744073709551615}
{"fingerprint":-1,"id":9223372036854775808,"ignored":[123456789012345678901234567890,{"id":[1.5e300,true,null]}]}
{"fingerprint":[1,2,3,4,5,6,7,255],"id":0}
{"fingerprint":"\u0061B","id":"\u0033"}
END
exits 0 sstore build --quiet STORE input.jsonl
sstore dump STORE
echo "--- by name, by option, compressed, and line by line"
gzip <input.jsonl >packed.jsonl.gz
exits 0 sstore build --quiet NAMED packed.jsonl.gz
same_store STORE NAMED
gzip <input.jsonl | exits 0 sstore build --quiet --format jsonl PIPED
same_store STORE PIPED
sstore query -k 0 --format jsonl --input input.jsonl STORE | cut -f 2- >answers
sstore query -k 0 --format jsonl STORE - <input.jsonl | cut -f 2- | cmp - answers
echo "--- without ids, and with others"
printf '%s\n' '{"fingerprint":5}' '{"fingerprint":"6","id":null}' | exits 0 sstore build --quiet --format jsonl --radix hex --first-id 7 NUMBERED
sstore dump NUMBERED
exits 0 sstore build --quiet --columns fingerprint NONE input.jsonl
sstore dump --columns id,fingerprint NONE | sed -n '1p;$p'
exits 0 sstore build --quiet --no-ids PLAIN input.jsonl
sstore dump PLAIN | sed -n 1p
printf '%s\n' '{"h":"CErf4tE+Ess","n\u00e9":3}' '{"h":255,"né":4}' | exits 0 sstore build --quiet --format jsonl \
    --fingerprint-field h --id-field né --radix base64 KEYS
sstore dump KEYS
printf '%s\n' '{"id":3,"fingerprint":{}}' '{"id":"1"}' | exits 0 sstore remove --ids --format jsonl STORE
sstore dump STORE
echo "--- malformed"
n=0
while IFS= read -r line; do
    printf '{"fingerprint":1,"id":1}\n%s\n' "$line" | exits 1 sstore build --format jsonl MALFORMED
    absent MALFORMED
    ((++n))
done <<'END'
[1]
84adfe2d13e12cb	1
{"fingerprint":1,"id":1
{"fingerprint":1,"id":1}}
{"fingerprint":1,"fingerprint":1,"id":1}
{"fingerprint":00000000000000000000000001,"id":1}
{"fingerprint":--1234567890123456789012,"id":1}
{"fingerprint":12345678901234567890.5,"id":1}
{"fingerprint":1e3,"id":1}
{"fingerprint":18446744073709551616,"id":1}
{"fingerprint":-9223372036854775809,"id":1}
{"fingerprint":true,"id":1}
{"fingerprint":{"a":1},"id":1}
{"fingerprint":[1,2,3,4,5,6,7],"id":1}
{"fingerprint":[1,2,3,4,5,6,7,256],"id":1}
{"fingerprint":[],"id":1}
{"fingerprint":null,"id":1}
{"Fingerprint":1,"id":1}
{"fingerprint":"xyz","id":1}
{"fingerprint":"","id":1}
{"fingerprint":"-5","id":1}
{"fingerprint":1,"id":-1}
{"fingerprint":1,"id":1.0}
{"fingerprint":1,"id":"a\u001b[1m"}
{"fingerprint":1,"id":18446744073709551616}
{"fingerprint":1,"id":[7]}
{"fingerprint":1,"id":null}
{"fingerprint":1}
{"fingerprint":1,"id":"\ud800"}
END
printf '{"fingerprint":1,"id":"a\0"}\n{"fingerprint":1,"\xff":2}\n' | exits 1 sstore build --format jsonl MALFORMED
printf '{"fingerprint":1}\n' | exits 1 sstore build --format jsonl --columns id,fingerprint MALFORMED
printf '{"fingerprint":1}\n' | exits 1 sstore remove --ids --format jsonl STORE
{ printf '['; printf '[%.0s' {1..5000}; echo; } | exits 1 sstore build --format jsonl MALFORMED
cp input.jsonl edges.jsonl
exits 1 sstore clusters --edges edges.jsonl
echo "$n lines"
echo "--- usage"
exits 2 sstore build --id-field fingerprint STORE input.jsonl
exits 2 sstore build --fingerprint-field $'\xff' STORE input.jsonl
