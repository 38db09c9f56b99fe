#!/usr/bin/env bash
# Installs, uses, removes and purges the Debian packages, in a minimal system that may be spoilt: changes the system that
# it runs on. Needs root.
#   check_packages.sh FOLDER PAGE.SH     FOLDER has the packages; PAGE.SH is tests/page.sh
set -euo pipefail
packages=$(cd "$1" && pwd) page=$2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
work=$(mktemp -d)
chmod 755 "$work"

step() { echo "== $*"; }
fail() { echo "FAILED: $*"; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }
install() { # package name or path...
  quietly apt-get install -qy --no-install-recommends "$@"
}
deb() { echo "$packages/$1"_[0-9]*.deb; }
as_user() { # command, in a folder of the user's own
  (cd "$work/user" && runuser -u sstore-test -- env HOME="$work/user" PATH=/usr/bin:/bin bash -c "$1")
}
# All files but those that dpkg, apt, ldconfig and useradd keep for themselves.
list_files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /packages -o -path /sstore \
    -o -path "$work" -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \
    -o -path /var/lib/systemd \) -prune -o -print | grep -vE '^/etc/(ld\.so\.cache|(passwd|group|shadow|gshadow|subuid|subgid)-?)$' | sort
}

step "install libsstore1 and sstore, with their dependencies"
quietly apt-get update -q
useradd --no-create-home sstore-test
mkdir "$work/user"
chown sstore-test "$work/user"
list_files >"$work/before"
# shellcheck disable=SC2046 # names without spaces
install $(deb libsstore1) $(deb sstore)
[ "$(sstore --version | head -n 1 | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')" = "$(dpkg-query -W -f '${Version}' sstore)" ] ||
  fail "the command has another version than its package"
! ldd /usr/bin/sstore | grep -q 'not found' || fail "a library is missing: $(ldd /usr/bin/sstore)"
if readelf -d /usr/bin/sstore 2>/dev/null | grep -E 'R(UN)?PATH'; then fail "the command has a path of libraries"; fi

step "use the command, not as root"
as_user "printf '084adfe2d13e12cb\t1\n084adfe2d13e12c9\t2\n7d1b94a0c3f5e682\t3\n' >three.tsv && sstore build three.store three.tsv &&
  sstore query three.store 084adfe2d13e12cf >found && sstore query --json three.store 084adfe2d13e12cf | head -c 1 | grep -qF '{' &&
  gzip -k three.tsv && sstore build gzip.store three.tsv.gz && echo 'some text' | sstore fingerprint && sstore verify three.store"
[ "$(cat "$work/user/found")" = $'084adfe2d13e12cf\t084adfe2d13e12cb\t1\t1\n084adfe2d13e12cf\t084adfe2d13e12c9\t2\t2' ] ||
  fail "the query found: $(cat "$work/user/found")"
if as_user "sstore build /usr/three.store three.tsv" 2>"$work/refusal"; then fail "a user wrote to /usr"; fi
grep -q '/usr' "$work/refusal" || fail "the refusal says: $(cat "$work/refusal")"
# A unit, if there is one, is left to the administrator.
if [ -n "$(find /etc/systemd/system -name '*sstore*' 2>/dev/null)" ]; then fail "the package has enabled a service"; fi

step "remove and purge: nothing is left"
quietly apt-get remove -qy sstore
! command -v sstore >/dev/null || fail "the command is still there"
quietly dpkg --purge sstore
quietly apt-get purge -qy --autoremove libsstore1
list_files >"$work/after"
diff "$work/before" "$work/after" || fail "installing and purging changed the files above"

step "libsstore-dev and sstore-doc: the example, as its first lines say"
# shellcheck disable=SC2046
install $(deb libsstore1) $(deb sstore) $(deb libsstore-dev) $(deb sstore-doc) gcc libc6-dev pkg-config
as_user 'cc /usr/share/doc/sstore-doc/examples/embed.c $(pkg-config --cflags --libs sstore) -o embed &&
  echo 084adfe2d13e12cf | ./embed three.store 32' >"$work/found"
grep -q 084adfe2d13e12cb "$work/found" || fail "the example found: $(cat "$work/found")"
as_user 'cc /usr/share/doc/sstore-doc/examples/embed.c $(pkg-config --static --cflags --libs sstore) -static -o embed-static &&
  echo 084adfe2d13e12cf | ./embed-static three.store 32' | cmp - "$work/found" || fail "the static example found something else"

step "docs/tutorial.md"
bash "$page" /usr/share/doc/sstore-doc/docs/tutorial.md /usr/bin/sstore --install >"$work/log" 2>&1 || { cat "$work/log"; fail tutorial; }
tail -n 1 "$work/log" # its figure

step "purge all"
quietly apt-get purge -qy sstore libsstore1 libsstore-dev sstore-doc
list_files | grep sstore && fail "the files above are left"
echo "all packages were installed, used and purged"
