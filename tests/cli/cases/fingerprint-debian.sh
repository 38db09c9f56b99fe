# examples/debian.sh, with pages and descriptions of our own.
example=$(dirname "${BASH_SOURCE[0]}")/../../../examples/debian.sh
mkdir -p work man/man1 man/man7 man/zh_CN man/zh_TW
text() { seq "$1" "$2" | awk '{ printf "word%d ", $1 * 7919 % 1000 }'; }
text 1 200 | gzip >man/man1/first.1.gz
text 1 201 | gzip >man/man1/second.1.gz
text 500 700 | gzip >man/man7/other.7.gz
: >man/man7/empty.7
echo '你妈妈喊你回家吃饭哦，回家罗回家罗' >man/zh_CN/page
echo '你妈妈喊你回家吃饭哦，回家罗，回家罗' >man/zh_TW/page
{
    for name in lib1 lib2 lib3 doc; do echo "{\"id\": \"$name\", \"text\": \"The same long description of a \\\"library\\\"\"}"; done
    echo '{"id": "alone", "text": "A game of old wars"}'
} >work/descriptions.jsonl
MAN=$PWD/man exits 0 bash "$example" work
cat work/*.clusters | sed "s#$PWD/##"
echo "--- again, with other texts"
text 300 400 >man/man1/third.1
MAN=$PWD/man exits 0 bash "$example" work 2>&1 | head -n 4
exits 2 bash "$example" | head -n 2
