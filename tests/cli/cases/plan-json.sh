# plan --json is one object; one plan is chosen, with a reason.
sstore plan --json -n 5000 -k 2 --no-ids >json
wc -l <json
grep -o '^{"record_count":5000,"fingerprint_bits":64,"distance":2,"has_ids":false,"sample_count":0,"plans":\[' json
grep -o '"[a-z_]*":' json | sort -u | tr -d '":' | tr '\n' ' '
echo
grep -o '"is_chosen":true' json
grep -o '"reason":"' json
