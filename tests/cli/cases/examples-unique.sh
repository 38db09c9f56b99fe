# The script of examples/ on random documents, whose exact similarities it compares with.
examples=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../../../examples")
awk -v seed="${SSTORE_TEST_SEED:-$RANDOM}" 'BEGIN {
    srand(seed)
    for (i = 0; i < 400; i++) {
        if (i == 0 || rand() < 0.3)
            for (j = 0; j < 60; j++)
                words[j] = "w" int(500 * rand())
        words[int(60 * rand())] = "w" int(500 * rand())
        text = ""
        for (j = 0; j < 60; j++)
            text = text " " words[j]
        printf "{\"text\": \"%s\"}\n", text
    }
}' >in.jsonl
if python3 -c 'import xxhash' 2>/dev/null; then
    exits 0 "$examples/unique.sh" --check in.jsonl out.jsonl 0.9 >report
    cat report >&3
    grep -q 'precision 1.0000' report || echo "FAILED: a document was dropped that is not near"
else
    echo "skipped: there is no python3 with xxhash" >&3
    exits 0 "$examples/unique.sh" in.jsonl out.jsonl 0.9
fi 2>/dev/null
(($(wc -l <out.jsonl) + $(wc -l <out.jsonl.removed) == 400)) || echo "FAILED: documents are lost"
grep -cvFxf in.jsonl out.jsonl
exits 2 "$examples/unique.sh" in.jsonl 2>/dev/null
