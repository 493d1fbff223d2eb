"""Run the ClickHouse engine as an HTTP server in this process: `python -m counterflow.stack.clickhouse_server`.

The library exports `chdb_query_cmdline`, which is clickhouse-local. One statement starts the stock HTTP listener; a
second never ends and keeps the process alive. On SIGTERM this module kills that statement and the engine closes its
tables. Only HTTP is started: on the native listener a wrong password would end the process.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import threading

import httpx

from counterflow.base import logs
from counterflow.stack import tls_relay
from counterflow.stack.clickhouse import library
from counterflow.stack.settings import StackSettings

_PARKED = "SELECT sleepEachRow(3) FROM system.numbers"
_SQL = f"SYSTEM START LISTEN HTTP; {_PARKED} FORMAT Null SETTINGS max_block_size = 1"
_STOP = {signal.SIGTERM, signal.SIGINT}


def main() -> None:
    """Serve until SIGTERM; exit status 0 after a clean stop, 1 when the engine ended by itself."""
    settings = StackSettings.load()
    logs.configure()
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP | {signal.SIGHUP})  # before the library: its threads inherit it
    run = ctypes.CDLL(str(library(settings))).chdb_query_cmdline
    run.argtypes, run.restype = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)], ctypes.c_void_p
    config = settings.clickhouse_home / "config.xml"
    words = [b"clickhouse", b"--config-file", os.fsencode(config), b"--query", _SQL.encode()]
    engine = threading.Thread(
        target=run, args=(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None)), daemon=True
    )
    engine.start()
    if settings.tls_certificate:
        to_port = settings.clickhouse_engine_port
        tls_relay.start(settings.address, settings.clickhouse_port, settings.tls_certificate, to_port)
    stopping = False
    while engine.is_alive():
        if signal.sigtimedwait(_STOP, 0.5) and not stopping:
            stopping = True
            _unpark(settings)
    os._exit(0 if stopping else 1)  # the library's static destructors do not end cleanly


def _unpark(settings: StackSettings) -> None:
    """End the parked statement; if the engine does not answer, exit as in a crash, from which it recovers."""
    try:
        with settings.clickhouse("admin", timeout_s=5) as client:
            client.post(f"KILL QUERY WHERE query LIKE '{_PARKED}%' ASYNC")
    except httpx.TransportError:
        os._exit(0)


if __name__ == "__main__":
    main()
