"""A program that takes llama-server's arguments: it writes down what it was given, and answers only `/health`.

Its model's name says what it does: one with "missing" cannot be downloaded, one with "endless" never arrives.
"""

from __future__ import annotations

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Health(BaseHTTPRequestHandler):
    """Answers that all is well."""

    def do_GET(self) -> None:
        body = b'{"status": "ok"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


def main() -> None:
    """Do as a server does."""
    given = sys.argv[1:]
    seen = {"arguments": given, "key": os.environ.get("LLAMA_API_KEY"), "pid": os.getpid()}
    Path(os.environ["STAND_IN_SEEN"]).write_text(json.dumps(seen), encoding="utf-8")
    if any("missing" in argument for argument in given):
        sys.stderr.write("0.00.1 E common_download: cannot resolve the hub's name\n")
        sys.exit(1)
    if any("endless" in argument for argument in given):
        time.sleep(600)
    address = (given[given.index("--host") + 1], int(given[given.index("--port") + 1]))
    with HTTPServer(address, Health) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
