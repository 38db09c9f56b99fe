# sstore serve: answers of all forms against brute force, writes, new states, refused requests, limits, sockets, the end;
# and that its systemd unit is valid and as closed as it claims.
tests=${BASH_SOURCE[0]%/cli/*}
exits 2 sstore serve 2>&1
if sstore serve --listen unix:none absent 2>&1 | grep -q 'built without'; then
    tail -n +3 "${BASH_SOURCE[0]%.sh}.stdout"
else
    python3 "$tests/cli/serve_client.py" 2>&3
fi
if command -v systemd-analyze >/dev/null; then
    sed "s|^ExecStart=sstore |ExecStart=$(command -v sstore) |; /^Documentation=/d" "$tests/../packaging/systemd/sstore@.service" >sstore@.service
    cp "$tests/../packaging/systemd/sstore@.socket" .
    systemd-analyze verify ./sstore@.service ./sstore@.socket 2>&1 | grep -F sstore@
    systemd-analyze security --offline=true --threshold=15 ./sstore@.service >/dev/null 2>&1 || echo 'FAILED: the unit is open'
fi
