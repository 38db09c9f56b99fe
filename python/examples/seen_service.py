"""A service that tells a crawler whether it has seen a page: seen_service.py STORE [--port 8000]

    $ curl --data-binary @page.txt http://localhost:8000/
    {"is_new": true}

The answer is false if a page within the distance was posted before. A page without words is always new. New pages are
published after every --publish-every of them, and when the service ends by Ctrl-C or SIGTERM; those since then are lost
if the process is killed.
"""

import argparse
import json
import pathlib
import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import sstore

MAX_BYTES = 10 << 20
RECIPE = sstore.text_recipe()


class Handler(BaseHTTPRequestHandler):
    seen: sstore.Deduplicator

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if not size.isdecimal() or int(size) > MAX_BYTES:
            self.send_error(413 if size.isdecimal() else 411)
            return
        fingerprint = sstore.simhash([self.rfile.read(int(size))], threads=1)
        is_new = bool(fingerprint[0] == 0 or self.seen.offer(fingerprint)[0])  # 0: a page without words
        body = json.dumps({"is_new": is_new}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--publish-every", type=int, default=1000)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    with sstore.Deduplicator(given.store, given.distance, publish_every=given.publish_every, recipe=RECIPE) as seen:
        Handler.seen = seen
        with ThreadingHTTPServer(("127.0.0.1", given.port), Handler) as server:
            print(f"listening on port {server.server_port}", flush=True)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                pass


if __name__ == "__main__":
    main()
