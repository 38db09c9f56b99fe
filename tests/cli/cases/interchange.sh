# The commands of docs/interchange.md, and every other form of records, against files that a Python program writes.
project=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../../..")
if command -v python3 >/dev/null; then
    python3 "$project/tests/cli/round_trip.py" "$project/docs/interchange.md" >&3 || echo FAILED
else
    echo "skipped: there is no python3" >&3
fi
