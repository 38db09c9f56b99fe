# NumPy arrays: versions 1.0 to 3.0, '<u8' and '>u8' of one dimension, bytes of shape (n, 8), the first one highest.
build()
{
    echo "--- $1"
    exits 0 sstore build --quiet --force --allow-empty --bits 64 STORE input.npy && sstore dump STORE
}
words='0100000000000000efcdab8967452301'
for version in 1 2 3; do
    { npy_header $version "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"; unhex <<<$words; } >input.npy
    build "version $version.0"
done
{ npy_header 1 "{'descr': '>u8', 'fortran_order': False, 'shape': (2,), }"; unhex <<<$words; } >input.npy
build "big-endian words"
{ npy_header 1 "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8), }"; unhex <<<$words; } >input.npy
build "bytes"
{ npy_header 1 ' { "shape" :(2 ,) ,"fortran_order":False,"descr" : "<u8"} '; unhex <<<$words; } >input.npy
build "another order of keys, other spaces and quotes"
{ npy_header 1 "{'descr': '<u8', 'fortran_order': True, 'shape': (2,), }"; unhex <<<$words; } >input.npy
build "the order of one dimension does not matter"
npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (0,), }" >input.npy
build "no words"
npy_header 1 "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 8), }" >input.npy
build "no bytes"
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"; unhex <<<$words; } >input
for type in '<i8' '<u8'; do
    { npy_header 1 "{'descr': '$type', 'fortran_order': False, 'shape': (2,), }"; words <<<'ffffffffffffffff 8000000000000000'; } \
        >input.npy
    build "$type"
done
{ npy_header 1 "{'descr': '>i8', 'fortran_order': False, 'shape': (2,), }"; unhex <<<'ffffffffffffffff8000000000000000'; } \
    >input.npy
build ">i8"
for type in '<u8' '<i8'; do
    { npy_header 1 "{'descr': '$type', 'fortran_order': False, 'shape': (2, 2), }"
      words <<<'ffffffffffffffff 0000000000000007 0000000000000001 ffffffffffffffff'; } >input.npy
    build "fingerprints and ids, $type"
done
{ npy_header 1 "{'descr': '>u8', 'fortran_order': False, 'shape': (1, 2), }"; unhex <<<'00000000000000010000000000000002'; } \
    >input.npy
build "fingerprints and ids, >u8"
npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (0, 2), }" >input.npy
build "no fingerprints and ids"
mv input.npy INPUT.NPY
echo "--- a suffix in capitals"
exits 0 sstore build --quiet --force --allow-empty --bits 64 STORE INPUT.NPY
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"; unhex <<<$words; } >input
echo "--- from stdin"
exits 0 sstore build --quiet --force --format npy STORE <input
sstore dump STORE
