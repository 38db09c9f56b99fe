# A compressed stream that is cut, damaged or followed by something else ends the build with its place in the compressed
# file, exit 1, and leaves nothing behind.
exec 2>&1
gzip_one=1f8b080000000000000333543034e032523032e00200cf7c7ac50a000000 # 1 10, 2 20
gzip_two=1f8b080000000000000333563036e00200511e2f9905000000           # 3 30
zstd_one=28b52ffd0458510000312031300a322032300a4c4d7b93               # 1 10, 2 20
zstd_two=28b52ffd0458290000332033300a13f0806d                         # 3 30
refuse() # HEX NAME [OPTION...]
{
    unhex <<<"$1" >"$2"
    exits 1 sstore build STORE "${@:2}"
    absent STORE
}
accept()
{
    unhex <<<"$1" >"$2"
    exits 0 sstore build --quiet STORE "${@:2}"
    sstore dump STORE
    rm -r STORE
}
echo "--- sound"
accept $gzip_one$gzip_two text.gz
accept $zstd_one$zstd_two text.zst
echo "--- empty, and cut anywhere"
refuse '' text.gz
refuse '' text.zst
cut_anywhere() # HEX HEX KIND PART NAME
{
    local digits place
    for ((digits = 2; digits < ${#2}; digits += 2)); do
        unhex <<<"$1${2:0:digits}" >"$5"
        exits 1 sstore build STORE "$5" 2>message
        absent STORE
        place=$(((${#1} + digits) / 2))
        grep -qx "sstore: $5: the $3 data is cut short: it ends at offset $place, within a $4" message || cat message
    done
}
cut_anywhere $gzip_one $gzip_two gzip member text.gz
cut_anywhere $zstd_one $zstd_two zstd frame text.zst
refuse ${zstd_one:0:30} text.zst
refuse ${gzip_one:0:30} text.gz
refuse 502a4d18ff00000001 text.zst
echo "--- something else, in front or behind"
refuse 310a320a text.gz
refuse 310a320a text.zst
refuse $zstd_one text.gz
refuse $gzip_one text.zst
refuse ${gzip_one}00 text.gz
refuse ${gzip_one}310a text.gz
refuse ${gzip_one}$zstd_one text.gz
refuse ${zstd_one}0a text.zst
refuse ${zstd_one}28b52ffe text.zst
refuse $gzip_one words.u64 --compression zstd
refuse $gzip_one plain --compression none
echo "--- damaged"
refuse 1f8b090000000000000333543034e032523032e00200cf7c7ac50a000000 text.gz
refuse 1f8b080000000000000337543034e032523032e00200cf7c7ac50a000000 text.gz
refuse 1f8b080000000000000333543034e032523032e00200cf7c7ac60a000000 text.gz
refuse 1f8b080000000000000333543034e032523032e00200cf7c7ac50b000000 text.gz
refuse ${gzip_two}1f8b080000000000000333543034e032523032e00200cf7c7ac60a000000 text.gz
refuse 28b52ffd0458510000312031300a322032300a4c4d7b94 text.zst
refuse 28b52ffd0458570000312031300a322032300a4c4d7b93 text.zst
refuse 28b52ffd0c58510000312031300a322032300a4c4d7b93 text.zst
echo "--- a window of 128 MiB, and one that is larger"
accept 28b52ffd0088290000332033300a text.zst
refuse 28b52ffd0089290000332033300a text.zst
refuse 28b52ffd00a8290000332033300a text.zst
echo "--- malformed inside"
lines() { printf '1 10\n2 20\noops\n'; }
lines | gzip >text.gz
exits 1 sstore build STORE text.gz
lines | zstd -q | exits 1 sstore build STORE
printf '0123456789' | gzip >words.u64.gz
exits 1 sstore build STORE words.u64.gz
printf '0123456789' | zstd -q >pairs.rec.zst
exits 1 sstore build STORE pairs.rec.zst
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"; printf 12345678; } | gzip >array.npy.gz
exits 1 sstore build STORE array.npy.gz
{ npy_header 1 "{'descr': '<u8', 'fortran_order': True, 'shape': (1, 2), }"; printf 1234567812345678; } | gzip >array.npy.gz
exits 1 sstore build STORE array.npy.gz
{ head -c 17000000 /dev/zero | tr '\0' 1; } | gzip >text.gz
exits 1 sstore build STORE text.gz
absent STORE
echo "--- the records before are handed on"
echo 1 | sstore build --quiet STORE
unhex <<<${gzip_one}${gzip_two:0:38} >text.gz
exits 1 sstore query -k 0 --count --input text.gz STORE
exits 1 sstore query -k 0 --count STORE <text.gz
