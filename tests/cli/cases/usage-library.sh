# Values that only the library can judge are wrong usage too, and leave nothing behind.
exec 2>&1
judge()
{
    echo "--- $*"
    echo 1 | exits 2 sstore build --quiet "$@" STORE
    absent STORE
}
judge --block-size 1000
judge --block-size 128
judge --block-size 128K
judge --block-size 8G
judge --memory 1K
judge --plan five
for number in 8 7 5 30 64 0; do
    judge --plan $number
done
judge --plan 24:0
judge --plan 5c9
judge --plan 32:1,32:0
judge --plan 40:1,40:1
