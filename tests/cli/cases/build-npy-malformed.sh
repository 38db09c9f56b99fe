# What is not an array of fingerprints is refused with the reason, and leaves nothing behind.
exec 2>&1
refuse()
{
    exits 1 sstore build STORE input.npy
    absent STORE
}
header()
{
    { npy_header 1 "$1"; printf '12345678abcdefgh'; } >input.npy
    refuse
}
echo "--- preamble"
: >input.npy
refuse
printf '\x93NUMP' >input.npy
refuse
echo 'this is text, not an array' >input.npy
refuse
npy_header 4 "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }" >input.npy
refuse
printf '\x93NUMPY\x01\x00\x76\x00{' >input.npy
refuse
printf '\x93NUMPY\x02\x00\xff\xff\xff\xff{' >input.npy
refuse
echo "--- dict"
header ""
header "{}"
header "['descr']"
header "{'descr': '<u8', 'fortran_order': False}"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), 'shape': (2,), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), 'size': 3, }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), } more"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2,)"
header "{'descr' '<u8', 'fortran_order': False, 'shape': (2,), }"
header "{'descr': '<u8' 'fortran_order': False, 'shape': (2,), }"
header "{'descr': '<u8"
echo "--- type"
for type in '<i2' '<u2' '<f8' '|S8' 'u8' ''; do
    header "{'descr': '$type', 'fortran_order': False, 'shape': (2,), }"
done
header "{'descr': [('a', '<u8')], 'fortran_order': False, 'shape': (2,), }"
echo "--- order and shape"
header "{'descr': '<u8', 'fortran_order': 0, 'shape': (2,), }"
header "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 8), }"
header "{'descr': '|u1', 'fortran_order': False, 'shape': (16,), }"
header "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 4), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 2, 1), }"
header "{'descr': '<u8', 'fortran_order': True, 'shape': (1, 2), }"
header "{'descr': '>i8', 'fortran_order': True, 'shape': (0, 2), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': 2, }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (-2,), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2 3), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (99999999999999999999,), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2305843009213693954,), }"
echo "--- length of the data"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (0,), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"
header "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 8), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (2, 2), }"
header "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 2), }"
header "{'descr': '<u8', 'fortran_order': False, 'shape': (1152921504606846975, 2), }"
{ npy_header 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"; printf '12345678abcd'; } >input.npy
refuse
