# A reader that goes away ends the writer, without noise.
fingerprints 20000 81 >input
sstore build --quiet STORE input
sstore dump STORE | head -1 | wc -l
head -100 input >queries
sstore query -k 64 --input queries STORE | head -1
sstore query -k 64 STORE <queries | head -1
echo "--- where SIGPIPE is ignored, it is a failure with a message"
(
    trap '' PIPE
    sstore dump STORE 2>message
    echo "exit $?" >>message
) | true
cat message
