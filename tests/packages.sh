# packages.sh - for the scripts beside it, which source it: installs what they miss, on Debian and what comes of it.
#   need_command COMMAND PACKAGE    the package, unless there is the command
#   need_module MODULE PACKAGE      the package, unless pkg-config knows the module
#   need_libraries                  the packages that everything is built with
#   install_missing                 says how many packages it installs and how large they are, and installs what was needed
#                                   and is not there, without recommendations; or ends the script
missing=()
need_command() {
  command -v "$1" >/dev/null || missing+=("$2")
}
need_module() {
  command -v pkg-config >/dev/null && pkg-config --exists "$1" || missing+=("$2")
}
need_libraries() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_command pkg-config pkg-config
  need_module lmdb liblmdb-dev
  need_module libxxhash libxxhash-dev
  need_module cmocka libcmocka-dev
  need_module jansson libjansson-dev
  need_module libmicrohttpd libmicrohttpd-dev
  need_module libutf8proc libutf8proc-dev
  need_module zlib zlib1g-dev
  need_module libzstd libzstd-dev
  need_module sqlite3 libsqlite3-dev
  need_module icu-uc libicu-dev
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "$0: there is no sudo; as root, run: apt-get update && apt-get install ${missing[*]}" >&2
    exit 1
  fi
}
# It waits for another apt or dpkg, such as that of unattended upgrades.
apt_install() { # argument...
  as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install \
    --no-install-recommends "$@" "${missing[@]}"
}
install_once() {
  as_root apt-get update -q || return
  apt_install --assume-no 2>/dev/null | grep -E '^(.* newly installed|Need to get|After this operation)'
  apt_install -qy
}
install_missing() {
  ((${#missing[@]} > 0)) || return 0
  printf '\n== installing %s\n' "${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "$0: there is no apt-get here: install what these Debian packages hold, then run again" >&2
    exit 1
  fi
  # A mirror that is being updated fails now and then: once more, after a moment.
  install_once || { sleep 5; install_once; } || exit 1
}
