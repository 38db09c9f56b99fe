# Documents that bring fingerprints, in every form and with every choice of what to keep, against a slow model.
model=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../dedup_model.py")
if command -v python3 >/dev/null; then
    python3 "$model" "${SSTORE_TEST_CASES:-60}" "${SSTORE_TEST_SEED:-$RANDOM}" 2>&3
else
    echo "skipped: there is no python3" >&3
fi
ls -d sstore-* 2>/dev/null
true
