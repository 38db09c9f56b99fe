# `-` and no input at all are stdin; options may follow the operands.
printf '1\n2\n' >input
sstore build A --quiet <input
sstore build B - --quiet <input
sstore build --quiet -- C input
sstore build --quiet D <(cat input)
for store in A B C D; do
    sstore dump $store
done
