# Stores with hostile names, changed at random, against a slow model.
model=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../names_model.py")
if command -v python3 >/dev/null; then
    python3 "$model" "${SSTORE_TEST_CASES:-60}" "${SSTORE_TEST_SEED:-$RANDOM}" 2>&3
else
    echo "skipped: there is no python3" >&3
fi
