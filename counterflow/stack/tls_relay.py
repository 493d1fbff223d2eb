"""Terminates TLS in front of a server without TLS, and relays the bytes unchanged.

The server cannot distinguish remote clients: to the engine every connection comes from loopback.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"
_PIECE = 1 << 18


def start(address: str, port: int, certificate: Path, to_port: int) -> None:
    """Listen with TLS at `address` in a separate thread, and relay to `to_port` on loopback.

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
