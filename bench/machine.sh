#!/usr/bin/env bash
# Names the machine, for beside the figures: processor, its caches, cores, memory, kernel, and what else runs.
#   bench/machine.sh
set -euo pipefail

cpu() { # the value of a line of lscpu
  LC_ALL=C lscpu | sed -n "s/^$1: *//p" | head -n 1
}

printf '# %s (family %s, model %s), %s cores, L2 %s, L3 %s, %s GiB, Linux %s, load %s\n' \
  "$(cpu 'Model name')" "$(cpu 'CPU family')" "$(cpu Model)" "$(nproc)" "$(cpu 'L2 cache')" "$(cpu 'L3 cache')" \
  "$(awk '$1 == "MemTotal:" { printf "%.0f", $2 / 1048576 }' /proc/meminfo)" "$(uname -r)" \
  "$(cut -d ' ' -f 1 /proc/loadavg)"
