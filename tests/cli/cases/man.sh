# The man pages: what they say of names, forms, options, choices, defaults and examples is what the tables of the commands say
# (tools/man/update.py --write makes it so), and they are well-formed.
exec 2>&1
man=${BASH_SOURCE[0]%/tests/*}/tools/man
skip() { echo "skipped: there is no $1" >&3; }
if command -v python3 >/dev/null; then
    python3 "$man/update.py" "$(command -v sstore)"
    # A page that differs is found: of a copy of the pages, one has lost a line, and one an option.
    cp -r "$man" copy
    sed -i '/^Read and decode everything in$/d' copy/sstore-verify.1
    sed -i 's/\[option json\]/[option yaml]/' copy/sstore-stat.1
    exits 1 python3 copy/update.py "$(command -v sstore)" | tail -1
    sed -i 's/\[option yaml\]/[option json]/' copy/sstore-stat.1
    exits 1 python3 copy/update.py "$(command -v sstore)" | grep '^[-+][^-+]'
    python3 copy/update.py --write "$(command -v sstore)" && same copy/sstore-verify.1 "$man/sstore-verify.1"
else
    skip python3
fi
command -v mandoc >/dev/null || skip mandoc
command -v groff >/dev/null || skip groff
for page in "$man"/*.1; do
    if command -v mandoc >/dev/null; then mandoc -T lint -W warning "$page" | sed "s|^.*/||"; fi
    if command -v groff >/dev/null; then groff -mdoc -ww -z "$page"; fi
done
