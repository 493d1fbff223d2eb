"""The health check of the images, `python -m counterflow.base.probe`: queries /healthz on port COUNTERFLOW_PROBE_PORT.

It prints the response. Exit status 0: /healthz returned 200; 1: it did not. With `--alive` any response suffices: a
restart does not help a process that responds with what is wrong.
"""

from __future__ import annotations

import http.client
import os
import sys


def main() -> int:
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["COUNTERFLOW_PROBE_PORT"]), timeout=5)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        print(answer.read().decode(errors="replace").strip())
    except OSError as error:
        print(error)
        return 1
    return int("--alive" not in sys.argv and answer.status != http.client.OK)


if __name__ == "__main__":
    sys.exit(main())
