# By how much each bit is decided.
plain() { sed 's/unicode=.*/unicode=.../'; }
printf 'cat sat\n...\ncat cat cat sat\n' >texts
exits 0 sstore fingerprint --lines --shingle 1 --margins texts | plain
echo "--- with names"
printf 'one word' >a
printf '{"text":"one word","id":"x"}\n' >json
exits 0 sstore fingerprint --margins a | cut -f 1-3 | plain
sstore fingerprint --margins --jsonl --id-field id json | plain
echo "--- their signs are the bits, and a store takes them"
sstore fingerprint --no-comments --lines --shingle 1 --margins texts | awk -F '[\t,]' '{
  bits = ""
  for (i = 3; i <= NF; i++) bits = bits ($i > 0 ? 1 : 0)
  print $2 "\t" bits
}' >signs
sstore fingerprint --lines --shingle 1 texts 2>/dev/null | sstore build --quiet STORE
sstore fingerprint --lines --shingle 1 --margins texts 2>/dev/null | sstore build --quiet SECOND
sstore dump STORE >first && sstore dump SECOND | cmp - first
sstore query --output-radix bin --input first -k 0 STORE | awk '{ print $4 "\t" $2 }' | sort -u | cmp - signs
exits 2 sstore fingerprint --margins --format rec texts
exits 2 sstore fingerprint --margins --weighted texts
