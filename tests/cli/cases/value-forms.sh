# Fingerprints in the forms of many programs, against values that a Python program computes.
if command -v python3 >/dev/null; then
    python3 "${BASH_SOURCE[0]%/cases/*}/value_forms.py" >&3 || echo FAILED
else
    echo "skipped: there is no python3" >&3
fi
