"""Run the ClickHouse engine as an HTTP server in this process: `python -m counterflow.stack.clickhouse_server`.

The library exports `chdb_query_cmdline`, which is clickhouse-local. One statement starts the stock HTTP listener; a
second never ends and keeps the process alive. On SIGTERM this module kills that statement and the engine closes its
tables. Only HTTP is started: on the native listener a wrong password would end the process.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import signal
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import httpx

from counterflow.base import logs
from counterflow.stack.clickhouse import library
from counterflow.stack.settings import HOST, StackSettings

_PARKED = "SELECT sleepEachRow(3) FROM system.numbers"
_SQL = f"SYSTEM START LISTEN HTTP; {_PARKED} FORMAT Null SETTINGS max_block_size = 1"
_PIECE = 1 << 18
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
        relay_tls(settings.address, settings.clickhouse_port, settings.tls_certificate, to_port)
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


def relay_tls(address: str, port: int, certificate: Path, to_port: int) -> None:
    """Listen with TLS at `address` in a separate thread, and relay the bytes unchanged to `to_port` on loopback.

    The embedded engine refuses to listen with HTTPS. It cannot distinguish remote clients: all come from loopback.

    Raises
    ------
    OSError : the port is taken, or the certificate is invalid (`ssl.SSLError`).
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    loop = asyncio.new_event_loop()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # a client that disconnects
            server = await asyncio.open_connection(HOST, to_port)
            try:
                ways = [
                    asyncio.ensure_future(_pass(reader, server[1])),
                    asyncio.ensure_future(_pass(server[0], writer)),
                ]
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                for way in ways:
                    way.cancel()
            finally:
                server[1].close()
        writer.close()

    loop.run_until_complete(asyncio.start_server(relay, address, port, ssl=context))
    threading.Thread(target=loop.run_forever, name="tls", daemon=True).start()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


if __name__ == "__main__":
    main()
