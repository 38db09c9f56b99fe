# The first example of README.md prints what it says there.
project=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")/../../..")
sed -n '/^```console$/,/^```$/{/^```/d;p}' "$project/README.md" >example
sed -n 's/^\$ //p' example >commands
grep -v '^\$ ' example >expected
bash commands >found 2>&1
diff expected found && echo "$(wc -l <commands) commands"
