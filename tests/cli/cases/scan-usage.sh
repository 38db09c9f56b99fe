# Wrong usage of scan and collect exits 2 and says what was expected.
exits 2 sstore scan
exits 2 sstore scan FILE
exits 2 sstore scan --queries
exits 2 sstore scan --queries BATCH - -
exits 2 sstore scan --queries - -
exits 2 sstore scan --queries -
exits 2 sstore scan -k 257 --queries BATCH
exits 2 sstore scan --threads x --queries BATCH
exits 2 sstore scan --frobnicate
exits 2 sstore collect - FILE -
exits 2 sstore collect --memory 0
exits 2 sstore collect --memory 1023K
exits 2 sstore collect --frobnicate
