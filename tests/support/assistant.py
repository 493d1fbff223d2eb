"""An assistant: the client of the protocol's SDK, which starts `counterflow mcp` and speaks with it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.waiting import PATIENCE_S


def assistant(*words: str, **variables: str) -> Callable[[Callable[[ClientSession], Awaitable[Any]]], Any]:
    """Return what starts the command, runs a conversation with it, and returns what this returns."""

    def converse(conversation: Callable[[ClientSession], Awaitable[Any]]) -> Any:
        started = StdioServerParameters(
            command=sys.executable, args=["-m", "counterflow", "mcp", *words], env={**os.environ, **variables}
        )

        async def held() -> Any:
            with Path(os.devnull).open("w") as nowhere:
                async with stdio_client(started, nowhere) as pipes, ClientSession(*pipes) as session:
                    await session.initialize()
                    return await conversation(session)

        return asyncio.run(asyncio.wait_for(held(), PATIENCE_S))

    return converse
