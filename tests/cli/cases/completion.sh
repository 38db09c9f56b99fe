# Completion: 'sstore --complete' knows every command, option, choice and kind of operand from the tables, and bash, zsh and
# fish complete with it. Each shell is skipped if it is missing.
needs_terminal "${BASH_SOURCE[0]}"
completions=${BASH_SOURCE[0]%/tests/*}/tools/completions
skip() { echo "skipped: there is no $1" >&3; }
mkdir pages.store folder
touch pages.txt 'my file.txt' pages.store/MANIFEST

echo "--- words"
sstore --complete | cut -f 1 | cmp - <(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'; echo help)
sstore --complete ver
sstore --complete help pa
sstore --complete frobnicate --x
sstore --complete query --no
sstore --complete query --ne
echo "--- what may follow 'query' and some words"
after() # WORD...: the last one is to be completed
{
    local IFS=' '
    echo "$*: $(sstore --complete query "$@" | cut -f 1 | tr '\n' ' ')"
}
after ''
after -k ''
after -k 3 ''
after --io ''
after --io p
after --io=me
after --inp
after --inp ''
after --input=fo
after --limit ''
after --json ''
after --help ''
after --help=
after STORE ''
after -- STORE ''
after -- --n
after --frob=
echo "--- every option of every command, and every choice"
for command in $(sstore --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    sstore $command --help=table >table
    sstore --complete $command -- | cut -f 1 | sort | cmp - <(awk -F '\t' '$1 == "option" { print "--" $2 }' table | sort)
    while IFS=$'\t' read -r option choices; do
        cmp <(sstore --complete $command --$option= | cut -f 1) <(tr ' ' '\n' <<<"$choices")
    done < <(awk -F '\t' '$1 == "option" && $5 != "" { print $2 "\t" $5 }' table)
done

# In a shell, `sstore` writes its arguments to `ran`. A line is typed with tabs, and the shell must complete it.
mkdir shim
real=$(command -v sstore)
printf '%s\n' '#!/bin/sh' '[ "$1" = --complete ] && exec '"$real"' "$@"' 'printf "<%s>" "$@" >>"'"$PWD"'/ran"; echo >>"'"$PWD/ran\"" >shim/sstore
chmod +x shim/sstore
lines='sstore veri\t
sstore stat --js\t
sstore build --format np\tx
sstore build --format=np\tx
sstore query -k 3 pages.st\t
sstore build x pages.t\t
sstore build x my\t
sstore query --input pages.t\tx
sstore query --input=pages.t\tx
sstore help dum\t
sstore collect --tmp-dir fol\t
'
type_lines() # SETUP SHELL: type the lines into the shell, and print what it makes of them if that is not expected
{
    command -v "${2%% *}" >/dev/null || { skip "${2%% *}"; return; }
    : >ran
    printf "$1\n${lines}exit\n" >typed
    PATH=$PWD/shim:$PATH TERM=dumb HOME=$PWD script -qec "$2" log <typed >screen
    sed 's/\/>$/>/' ran | diff - expected || cat -v screen
}
printf '%s\n' '<verify>' '<stat><--json>' '<build><--format><npy><x>' '<build><--format=npy><x>' '<query><-k><3><pages.store>' \
    '<build><x><pages.txt>' '<build><x><my file.txt>' '<query><--input><pages.txt><x>' '<query><--input=pages.txt><x>' \
    '<help><dump>' '<collect><--tmp-dir><folder>' >expected
echo "--- bash"
type_lines "source $completions/sstore.bash" 'bash --norc --noprofile -i'
if [ -e /usr/share/bash-completion/bash_completion ]; then
    mkdir -p share/bash-completion/completions && cp $completions/sstore.bash share/bash-completion/completions/sstore
    export XDG_DATA_HOME=$PWD/share # from where it loads the completions of a command when they are needed
    type_lines 'source /usr/share/bash-completion/bash_completion' 'bash --norc --noprofile -i'
else
    skip bash-completion
fi
echo "--- zsh"
type_lines "fpath=($completions \$fpath); autoload -Uz compinit; compinit -u -d $PWD/zsh.dump" 'zsh -f -i'
echo "--- fish"
check() # LINE WORD: complete LINE to WORD, the only one
{
    local found
    found=$(PATH=$PWD/shim:$PATH HOME=$PWD fish -N -c "source $completions/sstore.fish; complete -C 'sstore $1'" | cut -f 1)
    [ "$found" = "$2" ] || echo "FAILED: '$1' gives '$found'"
}
if command -v fish >/dev/null; then
    check veri verify
    check 'stat --js' --json
    check 'build --format np' npy
    check 'build --format=np' --format=npy
    check 'query -k 3 pages.st' pages.store/
    check 'build x pages.t' pages.txt
    check 'build x my' 'my file.txt'
    check 'query --input pages.t' pages.txt
    check 'query --input=pages.t' --input=pages.txt
    check 'help dum' dump
    check 'collect --tmp-dir fol' folder/
    check 'query STORE ' ''
else
    skip fish
fi
