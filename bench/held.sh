#!/usr/bin/env bash
# Runs a command that may have no more than so much memory, page cache included: in a memory cgroup (version 1 or 2) of its
# own. Afterwards tells on stderr the most that it had, and how often the limit bit.
#   bench/held.sh BYTES COMMAND [ARGUMENT...]      as root; BYTES may end in K, M or G
set -euo pipefail
(($# >= 2)) || { sed -n '2,/^set/{s/^# \?//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
limit=$(numfmt --from=iec "$1")
shift
name=sstore-bench-$$

if [[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]]; then
  group=/sys/fs/cgroup/memory/$name
  mkdir "$group"
  echo "$limit" >"$group/memory.limit_in_bytes"
  peak=memory.max_usage_in_bytes bites=memory.failcnt
elif [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
  group=/sys/fs/cgroup/$name
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control
  mkdir "$group"
  echo "$limit" >"$group/memory.max"
  peak=memory.peak bites=memory.events
else
  echo 'held.sh: there are no memory cgroups here' >&2
  exit 2
fi
trap 'rmdir "$group"' EXIT
code=0
(echo "$BASHPID" >"$group/cgroup.procs" && exec "$@") || code=$?
printf '# held to %s bytes: at most %s, and the limit was met %s times\n' "$limit" "$(cat "$group/$peak" 2>/dev/null || echo '?')" \
  "$(sed -n 's/^max //p;/^[0-9]*$/p' "$group/$bites")" >&2
exit "$code"
