#!/usr/bin/env bash
# Installs a build into a temporary prefix, moves it elsewhere, and builds and runs consumer.c and consumer.cpp with
# what is there: through pkg-config and through CMake's find_package, with the shared and with the static library.
#   check_install.sh BUILD
# Environment: CMAKE, CC, CXX (empty: no C++), GENERATOR, CONSUMER_FLAGS, LIBDIR (below the prefix)
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${CMAKE:=cmake}" "${CC:=cc}" "${CXX=c++}" "${GENERATOR:=Unix Makefiles}" "${CONSUMER_FLAGS:=}" "${LIBDIR:=lib}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved
# The sanitizers' and coverage's flags must be the library's own. Split on purpose.
read -ra flags <<<"$CONSUMER_FLAGS"
strict=(-Wall -Wextra -Wpedantic -Werror)

step() { echo "== $*"; }

run() { # program...: it builds a store at the path it is given, and queries it
  rm -rf "$work/store"
  LD_LIBRARY_PATH=$prefix/$LIBDIR "$@" "$work/store"
}

step "install, then move the whole prefix"
"$CMAKE" --install "$build" --prefix "$work/installed" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mv "$work/installed" "$prefix"
public=$(cd "$here/../../libstore" && ls include/*.h)
for file in $public "$LIBDIR/"{libsstore,libsstore-text}{.so,.a} \
  "$LIBDIR/pkgconfig/"{sstore,sstore-text}.pc "$LIBDIR/cmake/sstore/sstore-config.cmake"; do
  [[ -e $prefix/$file ]] || { echo "not installed: $file"; exit 1; }
done
if [[ -e $prefix/bin/sstore ]]; then
  for file in bash-completion/completions/sstore zsh/site-functions/_sstore fish/vendor_completions.d/sstore.fish \
    $(cd "$here/../../tools/man" && printf 'man/man1/%s ' *.1); do
    [[ -e $prefix/share/$file ]] || { echo "not installed: share/$file"; exit 1; }
  done
fi
if [[ $(cd "$prefix" && find include -type f | LC_ALL=C sort) != "$(LC_ALL=C sort <<<"$public")" ]]; then
  echo "the installed headers are not those of libstore/include:"
  find "$prefix/include" -type f
  exit 1
fi
if grep -rlF -e "$work/installed" -e "$build" "$prefix/$LIBDIR/pkgconfig" "$prefix/$LIBDIR/cmake"; then
  echo "these name the folder that they were built or installed in, so they cannot be moved"
  exit 1
fi

extension=$prefix/$LIBDIR/sqlite3/sstore_sqlite
if [[ -e $extension.so && $CONSUMER_FLAGS != *-fsanitize* ]] && command -v sqlite3 >/dev/null; then
  step "the extension of SQLite"
  [[ $(sqlite3 :memory: ".load $extension" "SELECT hamming(1, 2)") == 2 ]] || { echo "it does not work where it was moved to"; exit 1; }
fi

export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
version=$(pkg-config --modversion sstore)
read -ra cflags < <(pkg-config --cflags sstore)
read -ra libs < <(pkg-config --libs sstore)
read -ra static_libs < <(pkg-config --static --libs sstore)
static_libs=("${static_libs[@]/#-lsstore/$prefix/$LIBDIR/libsstore.a}")

step "pkg-config: C, shared"
# initializers.h has all of them.
while read -r name; do
  grep -q "= $name;" "$here/initializers.h" || { echo "initializers.h lacks $name" && exit 1; }
done < <(grep -ohE 'SSTORE_[A-Z_]+_INIT' "$prefix"/include/*.h | sort -u)
"$CC" -std=c11 "${flags[@]}" "${strict[@]}" "${cflags[@]}" "$here/consumer.c" "${libs[@]}" -o "$work/c-shared"
run "$work/c-shared" "$version"
step "the example, as its first lines say"
"$CC" "${flags[@]}" "${strict[@]}" "$here/../../examples/embed.c" "${cflags[@]}" "${libs[@]}" -o "$work/embed"
answer=$(printf '0\nnone\n' | LD_LIBRARY_PATH=$prefix/$LIBDIR "$work/embed" "$work/store" 32 2>"$work/told")
if [[ $answer != 0000000000000000*"not a fingerprint"* || $(<"$work/told") != *RssAnon* ]]; then
  echo "it answered: $answer"
  cat "$work/told"
  exit 1
fi
step "pkg-config: text, shared and static"
read -ra text_cflags < <(pkg-config --cflags sstore-text)
read -ra text_libs < <(pkg-config --libs sstore-text)
read -ra static_text_libs < <(pkg-config --static --libs sstore-text)
for name in sstore sstore-text; do
  for i in "${!static_text_libs[@]}"; do
    [[ ${static_text_libs[i]} != "-l$name" ]] || static_text_libs[i]=$prefix/$LIBDIR/lib$name.a
  done
done
for kind in shared static; do
  libraries=("${text_libs[@]}")
  [[ $kind == shared ]] || libraries=("${static_text_libs[@]}")
  "$CC" -std=c11 "${flags[@]}" "${strict[@]}" "${text_cflags[@]}" "$here/text_consumer.c" "${libraries[@]}" -o "$work/text-$kind"
  LD_LIBRARY_PATH=$prefix/$LIBDIR "$work/text-$kind" "$version"
done

step "pkg-config: C, static"
"$CC" -std=c11 "${flags[@]}" "${strict[@]}" "${cflags[@]}" "$here/consumer.c" "${static_libs[@]}" -o "$work/c-static"
run "$work/c-static" "$version"
step "pkg-config: a reader alone, static, by the example of docs/c.md"
sed -n '/^```c$/,/^```$/p' "$here/../../docs/c.md" | sed '/^```/d' >"$work/reader.c"
"$CC" -std=c11 "${flags[@]}" "${strict[@]}" "${cflags[@]}" "$work/reader.c" "${static_libs[@]}" -Wl,--gc-sections -o "$work/reader"
if nm "$work/reader" | grep -E ' [tT] (ss_(column_writer|segment_write|sorter|choose_plan)|sstore_(builder|merge|pairs|clusters))'; then
  echo "a program that only reads contains the above"
  exit 1
fi

if [[ -n $CXX ]]; then
  step "pkg-config: C++, shared"
  "$CXX" -std=c++11 "${flags[@]}" "${strict[@]}" "${cflags[@]}" "$here/consumer.cpp" "${libs[@]}" -o "$work/cpp-shared"
  run "$work/cpp-shared" "$version"
fi

step "CMake: find_package(sstore $version)"
"$CMAKE" -S "$here/project" -B "$work/project" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
  -DCMAKE_CXX_COMPILER="$CXX" -DCONSUMER_CXX="$CXX" -DCMAKE_C_FLAGS="$CONSUMER_FLAGS" \
  -DCMAKE_CXX_FLAGS="$CONSUMER_FLAGS" -DCONSUMER_WANTS="$version" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$CMAKE" --build "$work/project" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for program in c_shared c_static ${CXX:+cpp_shared cpp_static}; do
  step "CMake: $program"
  run "$work/project/$program" "$version"
done
for program in text_shared text_static; do
  step "CMake: $program"
  LD_LIBRARY_PATH=$prefix/$LIBDIR "$work/project/$program" "$version"
done
echo "install: all consumers work"
