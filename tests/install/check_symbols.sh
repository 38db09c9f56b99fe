#!/usr/bin/env bash
# Checks with nm what the libraries show and use: the shared library exports only sstore_*, every global name in the
# static one begins with sstore_ or ss_, and neither prints, exits or touches signals.
#   check_symbols.sh LIB.SO LIB.A FUNCTION
# FUNCTION is one that the library exports.
set -u
shared=$1 static=$2 function=$3
nm=${NM:-nm}
failures=0

# Each of the given names (stdin) that does not match the pattern is a failure. Names that begin with two underscores
# belong to the compiler and its sanitizers, and mangle_path to gcov.
expect_only() { # pattern, what
  local others
  others=$(grep -vE "^(__|_init$|_fini$|_edata$|_end$|mangle_path$)" | grep -vE "$1" | sort -u)
  if [[ -n $others ]]; then
    echo "$2:"
    sed 's/^/  /' <<<"$others"
    failures=$((failures + 1))
  fi
}

exported=$($nm -D --defined-only "$shared" | awk 'NF == 3 {print $3}')
globals=$($nm -g --defined-only "$static" | awk 'NF == 3 {print $3}')
used=$($nm -u "$static" | awk 'NF == 2 {print $2}' | sort -u)

if ! grep -qE "^$function@@SSTORE_[0-9]+$" <<<"$exported"; then
  echo "$shared does not export $function: is it the library?"
  failures=$((failures + 1))
fi
expect_only '^(sstore_.*@@SSTORE_[0-9]+|SSTORE_[0-9]+(@@SSTORE_[0-9]+)?)$' "exported by $shared without the prefix sstore_ or a version" <<<"$exported"
expect_only '^(sstore|ss)_' "global in $static without the prefix ss_ or sstore_" <<<"$globals"

printing='v?printf|puts|putchar|perror|stdout|stderr|stdin|__v?printf_chk'
ending='exit|_exit|_Exit|quick_exit|abort|atexit'
process='signal|sigaction|sigprocmask|setenv|unsetenv|putenv|setlocale|chdir|umask|rand|srand|system|popen'
forbidden=$(grep -E "^($printing|$ending|$process)$" <<<"$used")
if [[ -n $forbidden ]]; then
  echo "a library must not use these:"
  sed 's/^/  /' <<<"$forbidden"
  failures=$((failures + 1))
fi

((failures == 0)) && echo "symbols: $(wc -l <<<"$exported") exported, $(sort -u <<<"$globals" | wc -l) global"
exit $((failures > 0))
