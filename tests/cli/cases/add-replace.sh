# sstore add --replace: records in place of those of their ids, with an id index and without, against a model of lines.
exec 2>&1
clustered 600 72 | awk '{ print $1 "\t" NR % 290 }' >pages.txt     # ids have two or three records
clustered 300 73 | awk '{ print $1 "\t" 100 + NR % 250 }' >new.txt # of ids that are there, some with two records, and of others
sed -n '101,140p' pages.txt >>new.txt                              # that are there
exits 0 sstore build --quiet --id-index indexed.store pages.txt
exits 0 sstore build --quiet plain.store pages.txt
cp -r indexed.store apart.store
replace_in_model() # NEW: in model, as lines
{
    awk 'NR == FNR { given[$2]; next } !($2 in given)' "$1" model | sort -u - "$1" >changed
    mv changed model
}
check() # STORE: has the records of model
{
    sstore dump "$1" | sort | diff - model
    exits 0 sstore verify --quiet "$1"
}
sort -u pages.txt >model
replace_in_model new.txt
exits 0 sstore add --replace indexed.store new.txt
check indexed.store
exits 0 sstore add --replace plain.store new.txt
check plain.store
exits 0 sstore add --replace --no-compact --memory 1M --threads 1 apart.store new.txt
check apart.store
echo "--- the same again changes nothing"
find apart.store -type f -exec md5sum {} + | sort >before
exits 0 sstore add --replace --no-compact apart.store new.txt
find apart.store -type f -exec md5sum {} + | sort | diff before -
echo "--- back, once more, and after a removal"
replace_in_model pages.txt
exits 0 sstore add --replace --no-compact --quiet apart.store pages.txt
check apart.store
seq 0 120 | exits 0 sstore remove --ids --no-compact --quiet apart.store
awk '$2 > 120' model >left && mv left model
replace_in_model new.txt
exits 0 sstore add --replace --no-compact --quiet apart.store new.txt
check apart.store
exits 0 sstore compact --quiet apart.store
check apart.store
exits 0 sstore get apart.store 101 130 | sort >got
awk '$2 == 101 || $2 == 130' model | diff got -
echo "--- one document"
printf '00000000000000ff 7\n' | exits 0 sstore add --replace indexed.store
exits 0 sstore get indexed.store 7
echo "--- several words"
for i in 1 2 3; do printf '%032x\t%d\n' $i $((i % 2)); done | exits 0 sstore build --quiet wide.store
printf '%032x\t1\n' 9 | exits 0 sstore add --replace wide.store
exits 0 sstore dump wide.store
echo "--- what cannot be replaced"
echo 5 | exits 1 sstore add --replace plain.store
echo 5 | exits 0 sstore build --quiet --no-ids bare.store
echo '5 1' | exits 2 sstore add --replace bare.store
echo '5 1' | exits 2 sstore add --replace --if-new plain.store | head -1
echo '5 1' | exits 1 sstore add --replace absent.store
echo "--- nothing, and a removal without an id index"
exits 0 sstore add --replace plain.store </dev/null
echo 3 | exits 0 sstore remove --ids plain.store
echo 4 | exits 0 sstore remove --ids --quiet plain.store
