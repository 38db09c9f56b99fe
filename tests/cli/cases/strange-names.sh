# Names that a terminal would obey are shown without their control characters, whichever part of the program tells of them;
# what is no control character is shown as it is.
name=$(printf 'no\033[31mfi\177le\302\233\nx-caf\303\251')
exits 1 sstore build STORE "$name"
exits 1 sstore query "$name" 1
exits 1 sstore query STORE --input "$name"
exits 2 sstore query STORE "$name"
exits 2 sstore "$name"
echo 1 >"$name"
sstore build --quiet "$name.store" "$name"
exits 1 sstore build --quiet "$name.store" "$name"
printf 'x' >>"$name"
exits 1 sstore add --quiet "$name.store" "$name"
