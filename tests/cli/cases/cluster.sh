# The commands of docs/cluster.md under the contracts of the engines there: GNU parallel itself, the others replayed. All
# answers are those of one store.
page=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../docs/cluster.md")
command=$(command -v sstore)
mkdir data data/records
clustered 3000 51 | awk '{print $1 "\t" NR * 7919 % 100003}' >records
split -n l/5 -d --additional-suffix .tsv records data/records/
{ head -200 records | cut -f 1; fingerprints 100 52; } >data/queries.txt
sstore build --quiet STORE records
sstore query --input data/queries.txt STORE | sstore collect >matches
sstore pairs STORE | cut -f 2,4 | sstore clusters --edges - >clusters
wc -l <matches
wc -l <clusters

# The N-th block of a section, with the paths of this case: block SECTION N
block()
{
    awk -v section="## $1" -v wanted="$2" '
        /^## / { inside = $0 == section }
        /^# / { inside = section == "## -" }
        inside && /^```./ { printing = ++count == wanted; next }
        /^```$/ { printing = 0 }
        printing' "$page" | sed "s|/opt/bin/sstore|$command|g; s|/data|$PWD/data|g"
}
# The quoted command after a word in a block: quoted WORD
quoted()
{
    sed -n "s/.*$1[ (]*\"\([^\"]*\)\".*/\1/p"
}
# Without environment and in a folder of its own, as a task runs: task VARIABLES... COMMAND
task()
{
    (cd "$(mktemp -d -p "$PWD/tasks")" && cp ../../data/queries.txt . && exec env -i "$@")
}
# Run a block of GNU parallel, which in a plain chroot complains that it cannot count the processors: in_parallel N
in_parallel()
{
    local code
    block "GNU parallel" "$1" | bash 2>errors
    code=$?
    grep -v '^lscpu: ' errors >&2
    return $code
}
mkdir tasks
block Shards 1 >data/build-shard
block Slurm 1 >data/scan-rank
block Slurm 2 >job
chmod +x data/build-shard data/scan-rank

echo "--- numbered texts"
mkdir data/text
printf 'a b c\nb c d\n' >data/text/a.txt
printf '!\na b c\n' >data/text/b.txt
mv data/records kept
block - 1 | bash 2>messages
grep -hv '^#' data/records/a.tsv data/records/b.tsv | cut -f 2
cmp <(grep -v '^#' data/records/a.tsv | head -1 | cut -f 1) <(grep -v '^#' data/records/b.tsv | cut -f 1)
rm -r data/records
mv kept data/records

echo "--- GNU parallel"
if command -v parallel >/dev/null; then
    for n in 1 2 3; do in_parallel $n || echo "FAILED: block $n"; done
    cmp matches data/matches && cmp clusters data/clusters
    cp -r data/shards first
    in_parallel 1 # again: nothing changes
    same first data/shards
    ls -A data/shards
    flip data/shards/03.store/seg-*/table-00.blk 100
    echo kept >data/matches
    in_parallel 2 2>/dev/null && echo "FAILED: damage was not noticed"
    cat data/matches
    rm -r data/shards data/clusters
fi

echo "--- a task that is run four times at once, and one that fails"
mkdir data/shards
for i in 1 2 3 4; do task "$PWD/data/build-shard" "$PWD/data/records/00.tsv" & done
wait
ls -A data/shards
sstore verify data/shards/00.store | tail -n 1
rm -r data/shards/00.store
task "$PWD/data/build-shard" /missing.tsv 2>&1
task "$PWD/data/build-shard" "$PWD/data/queries.txt/x" 2>/dev/null && echo "FAILED: exit 0"
ls -A data/shards

echo "--- Slurm: ranks"
srun()
{
    local rank
    for rank in 2 0 1 3; do
        task SLURM_PROCID=$rank SLURM_NTASKS=4 SLURM_CPUS_PER_TASK=2 PATH=/usr/bin:/bin "${@: -1}" || return
    done
}
export -f srun task
bash job && cmp matches data/matches && ls -A data/found
mv data/records/01.tsv good
sed '50s/$/ x/' good >data/records/01.tsv
rm -r data/found
bash job 2>&1 | sed "s|$PWD/||"
ls -A data/found
mv good data/records/01.tsv

echo "--- Spark's pipe: no shell, no environment, lines of a partition"
read -ra scan < <(block "Spark's pipe" 1 | quoted records.pipe)
read -ra collect < <(block "Spark's pipe" 1 | quoted by_query.pipe)
for part in data/records/*; do task "${scan[@]}" <"$part" || echo "FAILED: $part"; done >found
for part in 0 1 2; do
    awk -v part=$part '{ hash = 0; for (i = 1; i <= 16; i++) hash += index("0123456789abcdef", substr($1, i, 1)) * i }
        hash % 3 == part' found | task "${collect[@]}" || echo "FAILED: $part"
done | sort | cmp - <(sort matches)
read -ra build < <(block "Spark's pipe" 2 | quoted .pipe)
read -ra query < <(block "Spark's pipe" 2 | quoted query\ =)
for part in "$PWD"/data/records/*; do echo "$part" | task "${build[@]}" || echo "FAILED: $part"; done
for part in "$PWD"/data/shards/*; do echo "$part" | task "${query[@]}" || echo "FAILED: $part"; done | sstore collect | cmp - matches
task "${scan[@]}" </dev/null && task "${query[@]}" </dev/null && task "${collect[@]}" </dev/null && echo "no lines, no answers"
echo /missing | task "${query[@]}" 2>&1 || echo "exit $?"

echo "--- Hadoop streaming: sorted lines to the reducer"
read -ra mapper < <(block "Hadoop streaming" 1 | quoted -mapper)
read -ra reducer < <(block "Hadoop streaming" 1 | quoted -reducer)
for part in data/records/*; do task "${mapper[@]}" <"$part"; done | sort -k 1,1 | task "${reducer[@]}" | cmp - matches
read -ra mapper < <(block "Hadoop streaming" 2 | quoted -mapper)
rm -r data/shards/*
ls -d "$PWD"/data/records/* | task "${mapper[@]}" && ls -A data/shards
