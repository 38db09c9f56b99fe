# Parts that are built apart and merged are, byte for byte, the store of all records, whatever their plans and sizes.
clustered 3000 31 >all
head -n 1000 all >first
sed -n 1001,1200p all >second
tail -n 1800 all >third
sstore build --quiet WHOLE all
sstore build --quiet --plan 2 FIRST first
sstore build --quiet --plan 5c2 --block-size 512 --first-id 1000 SECOND second
sstore build --quiet --first-id 1200 THIRD third
sstore merge MERGED SECOND THIRD FIRST
same_store WHOLE MERGED
sstore verify MERGED
sstore merge --quiet --memory 1M --threads 3 SMALL FIRST SECOND THIRD
same_store WHOLE SMALL
echo "--- in steps, and with other options"
sstore merge --quiet --plan 3 --block-size 256 STEP FIRST SECOND
sstore merge --quiet TWO STEP THIRD
same_store WHOLE TWO
echo "--- what is in several inputs is kept once"
sstore merge --quiet AGAIN WHOLE FIRST THIRD WHOLE
same_store WHOLE AGAIN
sstore build --quiet LOST third # its assigned ids are those of FIRST
sstore merge --quiet BOTH FIRST LOST
sstore dump BOTH | wc -l
echo "--- one input, none in it, and the store itself among them"
sstore merge --quiet ONE WHOLE
same_store WHOLE ONE
sstore build --quiet EMPTY /dev/null
sstore merge --quiet NOTHING EMPTY EMPTY
sstore dump NOTHING | wc -l
sstore merge --quiet WITH EMPTY WHOLE EMPTY
same_store WHOLE WITH
exits 1 sstore merge FIRST FIRST SECOND
sstore merge --quiet --force FIRST FIRST SECOND THIRD
same_store WHOLE FIRST
echo "--- without ids"
sstore build --quiet --no-ids A first
sstore build --quiet --no-ids B third
sstore merge --quiet AB A B
cat first third | sstore build --quiet --no-ids BOTH --force
same_store BOTH AB
echo "--- a hundred parts, with few files open"
for i in $(seq 100); do echo "$i $i" | sstore build --quiet P$i -; done
echo 1 1 | sstore build --quiet --block-size 64K LARGE -
exits 2 sstore merge --quiet --memory 64M NEW $(yes LARGE | head -n 240)
rm -r LARGE
ulimit -Sn 128
sstore merge --quiet MANY P* && sstore dump MANY | wc -l
rm -r P*
ls
