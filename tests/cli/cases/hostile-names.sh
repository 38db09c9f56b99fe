# Whatever a name, a recipe or an argument holds, no command prints a byte of it that a terminal would obey, nor a line that it
# forged: control characters of ASCII, 0x80 to 0x9f as bytes and as U+0080 to U+009F, direction marks, separators, no UTF-8.
name=$(printf 'a\nFORGED\t\033[31m\177\233\302\233\302\205\330\234\342\200\216\342\200\217\342\200\252\342\200\256\342\201\246\342\201\251\342\200\250\342\200\251\377b')

# Run a command, and say so if what it prints could fool anybody.
harmless()
{
    sstore "$@" >out 2>&1 </dev/null
    if grep -q '[^[:print:]	]' out || grep -q '^FORGED' out; then
        echo "FAILED: $1 printed what a terminal obeys: $(od -An -c out | head -n 20)"
    fi
}

# The same of a command that has to say something of the name.
checked()
{
    harmless "$@"
    grep -q FORGED out || echo "FAILED: $1 says nothing of the name: ${*:2:2}"
}

fingerprints 100 1 >good
echo 'not a fingerprint' >bad
cp good "$name"
sstore build --quiet STORE good
cp -r STORE "$name.store"
mkdir folder
echo 1 >"folder/$name"

echo "--- names of stores and inputs that are not there"
for command in build add remove merge shard query scan pairs join clusters compact reindex stat verify dump plan fingerprint collect; do
    case $command in
    build | add | remove) checked $command "$name.new/x" "$name.absent" && checked $command STORE "$name.absent" ;;
    merge) checked merge NEW "$name.absent" ;;
    shard) checked shard --count 2 "$name.absent" PARTS ;;
    query) checked query "$name.absent" 1 && checked query STORE --input "$name.absent" ;;
    scan) checked scan --queries "$name.absent" good && checked scan --queries good "$name.absent" ;;
    join) checked join STORE "$name.absent" ;;
    plan) checked plan --sample "$name.absent" ;;
    *) checked $command "$name.absent" ;;
    esac
done

echo "--- summaries and answers that name a store"
checked build --force "$name.built" good
checked add "$name.built" good
checked remove "$name.built" good
checked compact "$name.built"
checked reindex "$name.store"
checked verify "$name.store"
checked merge "$name.merged" STORE "$name.store"
checked shard --count 2 STORE "$name.shard"
checked add --if-new "$name.store" <(echo 1)
checked build folder good
cp -r STORE "$name.damaged"
flip "$name.damaged/$(basename "$name.damaged"/seg-*)/table-00.blk" 4500
flip "$name.damaged/$(basename "$name.damaged"/seg-*)/table-00.blk" 40
checked verify "$name.damaged"
checked dump "$name.damaged"

echo "--- what is in files and arguments"
printf '%s\n' "$name" | tr '\n' ' ' >"$name.bad"
checked build NEW "$name.bad"
checked query STORE "$name"
checked build --radix dec NEW "$name.bad"
checked collect "$name.bad"
checked build --columns "$name" NEW good
checked build --plan "$name" NEW good
checked build --threads "$name" NEW good
checked build --format "$name" NEW good
checked build "--$name" NEW good
harmless build "--quiet=$name" NEW good
checked stat STORE "$name"
checked "$name"
checked help "$name"
checked query --recipe "$name" STORE 1
checked fingerprint --shingle "$name"
harmless build --recipe "${name//[[:cntrl:]]/}" RECIPE good
harmless build --force --recipe "$name" RECIPE good
checked query --recipe none RECIPE 1
checked merge NEW STORE RECIPE
checked stat RECIPE
checked stat --json RECIPE
checked fingerprint "$name"

echo "--- a name in an answer can be read back"
cp good 'back\slash'
plain=$(printf 'caf\303\251 \342\202\254 d')
cp good "$plain"
sstore fingerprint "$name" 'back\slash' "$plain" | cut -s -f 3
printf '%b' "$(sstore fingerprint --no-comments "$name" | cut -f 3)" | cmp - <(printf '%s' "$name") && echo "it is the same"
echo "--- a very long name leaves room for the reason"
long=$(head -c 240 /dev/zero | tr '\0' '\233')
exits 1 sstore stat "$long/$long/$long/x" 2>&1 | grep -o 'x: .*'
exits 2 sstore build --plan "$long$long$long$long$long" NEW good 2>&1 | grep -o 'use auto.*' | cut -c 1-23
