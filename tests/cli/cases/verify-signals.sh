# verify of a store with very many bad blocks ends on a signal, also while nobody reads its messages, and on a closed pipe.
exec 2>&1
seq 60000 | awk '{ printf "%08x%08x\n", $1 * 2654435761 % 4294967296, $1 * 40503 % 65521 }' |
    sstore build --quiet --block-size 256 --plan 1 -k 0 STORE
python3 - STORE/seg-*/table-00.blk <<'END'
import sys

with open(sys.argv[1], "r+b") as table:
    data = bytearray(table.read())
    for at in range(4096 + 100, len(data) - 256, 512):  # every other block
        data[at] ^= 255
    table.seek(0)
    table.write(data)
END
sstore verify --all STORE 2>&1 | sed '$d' | sort -u | wc -l | awk '{ print ($1 > 500 ? "many problems" : "FAILED: " $1) }'
echo "--- a closed pipe"
sstore verify --all STORE 2>&1 | head -n 1 | wc -l
echo "exit ${PIPESTATUS[0]}"
echo "--- signals, while the pipe is full"
python3 - <<'END'
import fcntl
import os
import signal
import struct
import subprocess
import termios
import time

for number in signal.SIGTERM, signal.SIGINT:
    reads, writes = os.pipe()
    verify = subprocess.Popen(["sstore", "verify", "--all", "STORE"], stderr=writes)
    while struct.unpack("i", fcntl.ioctl(reads, termios.FIONREAD, bytes(4)))[0] < 60000:
        time.sleep(0.01)
    verify.send_signal(number)
    print("exit", verify.wait())
END
echo "--- where all blocks of a table are lost, this is one problem"
set -- STORE/seg-*/table-00.blk
size=$(stat -c %s "$1")
truncate -s 4096 "$1"
truncate -s "$size" "$1"
sstore verify STORE 2>&1 | grep -c 'blocks after it cannot be read either'
