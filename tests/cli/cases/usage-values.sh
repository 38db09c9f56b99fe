# Options whose values are wrong exit 2 and say what was expected.
for value in -1 257 1x '' 99999999999999999999; do
    exits 2 sstore build -k "$value" STORE
done
for value in -1 1025 three; do
    exits 2 sstore query --distance="$value" STORE 1
done
for value in 0 -5M 1.5G 12Q 64MB 64Mi M 99999999999999999999 18014398509481984K; do
    exits 2 sstore build --memory="$value" STORE
done
exits 2 sstore build --block-size 0 STORE
exits 2 sstore build --threads many STORE
exits 2 sstore build --threads 1025 STORE
exits 2 sstore build --format csv STORE
exits 2 sstore build --compression lzma STORE
exits 2 sstore build --radix oct STORE
exits 2 sstore build --columns '' STORE
exits 2 sstore build --columns id STORE
exits 2 sstore build --columns fingerprint,title STORE
exits 2 sstore build --columns fingerprint,,id STORE
exits 2 sstore build --columns fingerprint,id,id STORE
exits 2 sstore build --columns "fingerprint$(printf ',-%.0s' {1..64})" STORE
exits 2 sstore query --limit 0 STORE 1
exits 2 sstore query --limit x STORE 1
exits 2 sstore query --io floppy STORE 1
absent STORE
