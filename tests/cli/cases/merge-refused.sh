# Stores that do not belong together are not merged, and nothing is left of the attempt.
fingerprints 100 1 >input
sstore build --quiet A input
sstore build --quiet -k 2 K2 input
sstore build --quiet --no-ids PLAIN input
sstore build --quiet --recipe other OTHER input
exits 2 sstore merge NEW A K2
exits 2 sstore merge NEW A PLAIN
exits 2 sstore merge NEW PLAIN A
exits 1 sstore merge NEW A OTHER
exits 1 sstore merge NEW A MISSING
exits 2 sstore merge NEW
exits 2 sstore merge
exits 2 sstore merge --plan 1 --memory none NEW A
cp -r A DAMAGED
flip "$(echo DAMAGED/seg-*/table-00.blk)" 5000
exits 3 sstore merge NEW A DAMAGED 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
cp -a A COPY
exits 3 sstore merge --force A A DAMAGED 2>&1 | sed 's/seg-[0-9a-f]*/SEGMENT/'
same A COPY
absent NEW
