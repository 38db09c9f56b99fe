#!/usr/bin/env bash
# Checks that clang-format leaves all C files of the tree as they are, with .clang-format.
#   tests/format.sh [PROJECT]
# Exits 1 if it would change one, and 77 without clang-format of version 14 to 16. Later versions lay out a macro that is a
# list in braces in another way.
set -u
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 1
version=$(clang-format --version 2>/dev/null | sed -nE 's/.* version ([0-9]+).*/\1/p')
if ((${version:-0} < 14 || version > 16)); then
  echo "skipped, because there is no clang-format of version 14 to 16; on Debian 12: apt-get install clang-format"
  exit 77
fi

. tests/tree.sh
mapfile -d '' files < <(tree_files | grep -zE '\.[ch]$')
echo "figure: files ${#files[@]}"
printf '%s\0' "${files[@]}" | xargs -0 -n 64 -P "$(nproc)" clang-format --dry-run -Werror ||
  { echo "format: run clang-format -i on these files"; exit 1; }
echo "format: kept"
