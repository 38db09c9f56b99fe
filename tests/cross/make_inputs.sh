#!/usr/bin/env bash
# Makes the inputs that make_stores.sh takes: the same ones everywhere.
#   make_inputs.sh FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
rm -rf -- "$1" && mkdir -p -- "$1" && cd -- "$1"

clustered 5000 21 >fingerprints
# Every tenth fingerprint has a second id, and some ids take all 64 bits.
awk '{print $1 "\t" NR * 7919 % 1000003} NR % 10 == 0 {print $1 "\t" "1844674407370955" 1000 + NR % 600}' fingerprints \
  >records
head -n 3000 records >records.old
sed -n '2901,$p' records >records.new
sed -n '100,700p;3500,3600p' records >records.gone
sed -n '600,800p;3550,3700p' records >records.back
cut -f 2 records.new | sed -n '1~3p' >ids.gone
# Few fingerprints with many ids each, more than a block holds.
awk 'NR % 100 == 1 {for (i = 0; i < 200; i++) print $1 "\t" NR * i}' fingerprints >crowd
awk '{for (i = 0; i < 40; i++) print $1 "\t" NR * 40 + i}' fingerprints >many
printf '%s\t%s\n' 0 0 0 18446744073709551615 1 1 8000000000000000 9223372036854775808 \
  7fffffffffffffff 9223372036854775807 ffffffffffffffff 18446744073709551615 ffffffffffffffff 0 fffffffffffffffe 255 \
  00000000ffffffff 256 ff000000000000ff 1 >extremes
: >empty
{ sed -n '1~40p' fingerprints; fingerprints 50 5; } >queries
sed -n '1~20p' queries >queries.few
hex_ids <records | words >records.rec
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': ($(wc -l <fingerprints),), }"; words <fingerprints; } \
  >fingerprints.npy
while read -r value; do echo $((0x$value)); done <fingerprints >decimals
# Text of a few scripts, and of none.
for ((i = 0; i < 200; i++)); do
  printf 'The %s cat, Größe %d: ÀÉÎ \xce\xa3\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x82 — \xe6\xbc\xa2\xe5\xad\x97 %s\n' \
    "$(sed -n "$((i + 1))p" fingerprints)" $((i * i)) "$(sed -n "$((i / 2 + 1))p" fingerprints)"
done >text
