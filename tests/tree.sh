# tree.sh - for scripts in the project's root, which source it: this tree's version and files.
#   tree_version    the version, from its only home, the public header
#   tree_files      the files as git would give them, with what is not committed yet; without git, all but what is built.
#                   Each ends in a null byte.
tree_version() {
  sed -n 's/^#define SSTORE_VERSION_STRING "\(.*\)"/\1/p' libstore/include/sstore.h
}
tree_files() {
  local path
  if git -c safe.directory='*' rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -c safe.directory='*' ls-files -co --exclude-standard -z
  else
    find . \( -path ./build -o -path ./.git -o -path ./python/core \) -prune -o ! -type d -print0
  fi | while IFS= read -r -d '' path; do
    if [ -e "$path" ] || [ -L "$path" ]; then
      printf '%s\0' "$path"
    fi
  done
}
