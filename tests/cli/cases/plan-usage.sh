# Wrong usage of plan exits 2 and prints nothing on stdout.
exits 2 sstore plan
exits 2 sstore plan -n
exits 2 sstore plan -n -1
exits 2 sstore plan -n 10X
exits 2 sstore plan -n 10KiB
exits 2 sstore plan -n 99999999999G
exits 2 sstore plan -n 10M -k 17
exits 2 sstore plan -n 10M --objective fast
exits 2 sstore plan -n 10M --block-size 1000
exits 2 sstore plan -n 10M --max-bytes 0
exits 2 sstore plan -n 10M operand
exits 2 sstore plan -n 10M --max-bytes 1M 2>&1 | sed 's/[0-9][0-9]*$/N/'
