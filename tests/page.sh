#!/usr/bin/env bash
# Runs the commands that a page shows, in their order, in one shell and a scratch folder, and compares their output.
#   tests/page.sh PAGE.md SSTORE [--install]
# A command is a line `$ COMMAND` of a block ```console, with further lines `> ...`. The lines below it are its output, with
# that on standard error; without such lines any output is right. A line `...` stands for any number of lines. Every
# command must succeed, also within a pipe. Comments in front of a block change what is done with it:
#   <!-- console: figures differ -->  The data are not the same everywhere. Words with a digit may differ, and of a line
#                                     with tabs only the number of columns counts.
#   <!-- console: install -->         The block changes the system. It runs only with --install, and for root without `sudo`.
# Anywhere on the page:
#   <!-- console: skip unless COMMAND -->  If COMMAND fails, nothing runs, and the exit status is 77; not with --install.
# `$ cat FILE` of a file that is not there shows what a reader has: the lines become that file.
# Needs only bash, coreutils, sed and awk. The exit status is 1 if a command fails or its output differs.
page_fail() { # line, reason
  printf '%s:%s: %s\n' "$page_file" "$1" "$2" >&2
  exit 1
}
[ $# -ge 2 ] || { sed -n '2,/^page_fail/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
page_file=$(realpath -- "$1") && page_sstore=$(realpath -- "$2") && [ -x "$page_sstore" ] || exit 2
page_install=${3:-}
unset NO_COLOR
export LC_ALL=C

page_condition=$(sed -n 's/^<!-- console: skip unless \(.*\) -->$/\1/p' "$page_file")
if [ -n "$page_condition" ] && [ "$page_install" != --install ] && ! (eval "$page_condition") >/dev/null 2>&1; then
  printf '%s: skipped, because this fails here: %s\n' "$page_file" "$page_condition"
  exit 77
fi
set -o pipefail

page_folder=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf -- "$page_folder"' EXIT
mkdir "$page_folder/bin" "$page_folder/work" && cd "$page_folder/work" || exit 1
ln -s "$page_sstore" "$page_folder/bin/sstore"
PATH=$page_folder/bin:$PATH

# What of lines is compared if figures differ: the other words, or the number of columns.
page_shape() {
  awk '/\t/ { print gsub(/\t/, "") + 1 " columns"; next }
    { for (i = 1; i <= NF; i++) if ($i ~ /[0-9]/) $i = "N"; $1 = $1; print }'
}
# Whether FOUND has the lines of EXPECTED, where `...` stands for any lines: page_matches EXPECTED FOUND
page_matches() {
  awk 'FNR == NR { wanted[++n] = $0 ""; next } { found[++m] = $0 "" }
    END {
      for (i = j = 1; j <= m;)
        if (i <= n && wanted[i] == "...") { any = i++; from = j }
        else if (i <= n && wanted[i] == found[j]) { i++; j++ }
        else if (any) { i = any + 1; j = ++from }
        else exit 1
      while (i <= n && wanted[i] == "...") i++
      exit i <= n
    }' "$1" "$2"
}

page_run() { # line, mode, command, file of the expected output
  local page_status
  if [ "$2" = install ]; then
    [ "$page_install" = --install ] || return 0
    [ "$(id -u)" != 0 ] || set -- "$1" "$2" "${3//sudo /}" "$4"
  fi
  printf '%s: $ %s\n' "$1" "$3"
  if [[ $3 =~ ^cat\ ([a-z.]+)$ && ! -e ${BASH_REMATCH[1]} ]]; then
    cp "$4" "${BASH_REMATCH[1]}"
    return
  fi
  eval "$3" >"$page_folder/found" 2>&1 </dev/null 3<&-
  page_status=$?
  cat "$page_folder/found"
  # A command of a pipe that ended earlier, as before `head`, did not fail.
  [ "$page_status" -eq 0 ] || [ "$page_status" -eq 141 ] || page_fail "$1" "exit status $page_status: $3"
  [ -s "$4" ] || return 0
  local page_form=cat
  [ "$2" != differ ] || page_form=page_shape
  page_matches <($page_form <"$4") <($page_form <"$page_folder/found") || {
    diff -u --label page --label found "$4" "$page_folder/found" >&2
    page_fail "$1" "the output differs: $3"
  }
  page_compared=$((page_compared + 1))
}

page_commands=0 page_compared=0 page_number=0 page_mode='' page_inside='' page_command=''
page_flush() {
  [ -n "$page_command" ] || return 0
  page_commands=$((page_commands + 1))
  page_run "$page_line" "$page_mode" "$page_command" "$page_folder/expected"
  page_command=''
}
while IFS= read -r page_text <&3; do
  page_number=$((page_number + 1))
  case $page_inside:$page_text in
    ':```console') page_inside=yes ;;
    'yes:```') page_flush; page_inside='' page_mode='' ;;
    'yes:$ '*)
      page_flush
      page_line=$page_number page_command=${page_text#??}
      : >"$page_folder/expected"
      ;;
    'yes:> '*) page_command+=$'\n'${page_text#??} ;;
    yes:*) printf '%s\n' "$page_text" >>"$page_folder/expected" ;;
    ':<!-- console: figures differ -->') page_mode=differ ;;
    ':<!-- console: install -->') page_mode=install ;;
    ':<!-- console: skip unless '*) ;;
    ':<!-- console:'*) page_fail "$page_number" "an unknown comment on a block" ;;
  esac
done 3<"$page_file"
[ -z "$page_inside" ] || page_fail "$page_number" "a block does not end"
[ "$page_commands" -gt 0 ] || page_fail 1 "the page has no commands"
echo "figure: commands $page_commands, outputs compared $page_compared"
