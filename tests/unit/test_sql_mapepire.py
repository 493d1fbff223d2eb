"""Mapepire's own client against a server that speaks its protocol over TLS: trust, passwords, blocks of rows, losses.

The server is ours, written from the protocol types of the client, before the database of `tests.support.ibmi_database`.
"""

from __future__ import annotations

import base64
import json
import logging
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from counterflow.collectors.sources.sql import mapepire
from counterflow.collectors.sources.sql.drivers import SqlTarget
from counterflow.collectors.sources.sql.packs import PackQuery
from counterflow.collectors.sources.sql.samples import RepeatedQuery
from counterflow.collectors.sources.sql.session import SqlSession
from tests.support import ibmi_database
from tests.support.dds import Authority
from tests.support.ibmi_database import PASSWORD, System
from tests.support.ports import is_free

BLOCK_ROWS = 2


class Mapepire:
    """A server on 127.0.0.1 with a certificate of an authority of its own."""

    def __init__(self, system: System, folder: Path) -> None:
        self.system = system
        self.delay_s = 0.0
        authority = Authority(folder)
        self.ca = authority.authority
        context = authority.server_context()
        context.num_tickets = 0  # while two client threads read and write at once, a ticket can end the connection
        self.connections: list[ServerConnection] = []
        self.port = next(port for port in random.sample(range(20_000, 32_000), 40) if is_free(port))
        log = logging.getLogger("mapepire server of the test")
        self.server: Server = serve(
            self.serve, "127.0.0.1", self.port, ssl=context, process_request=self.authorise, logger=log
        )
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def authorise(self, connection: ServerConnection, request: Request) -> Response | None:
        expected = base64.b64encode(f"FLOW:{PASSWORD}".encode()).decode()
        if request.headers["Authorization"] != f"Basic {expected}":
            return connection.respond(401, "Unauthorized")
        return None

    def serve(self, connection: ServerConnection) -> None:
        self.connections.append(connection)
        target = SqlTarget(host="prod01", user="FLOW", properties={"folder": str(self.system.folder)})
        database, left = ibmi_database.connect(target, PASSWORD), dict[str, list[Any]]()
        for text in connection:
            message = json.loads(text)
            answer: dict[str, Any] = {"id": message["id"], "success": True}
            match message["type"]:
                case "connect":
                    answer["job"] = "123456/QUSER/QZDASOINIT"
                case "prepare_sql_execute":
                    cursor = database.cursor()
                    try:
                        cursor.execute(message["sql"], message["parameters"] or [])
                    except Exception as error:
                        answer |= {"success": False, "error": str(error), "sql_rc": -204}
                        answer["sql_state"] = ibmi_database.sqlstate(error)
                    else:
                        names = [column[0] for column in cursor.description or ()]
                        columns = [{"name": n, "label": n, "type": "VARCHAR", "display_size": 9} for n in names]
                        answer["metadata"] = {"column_count": len(names), "columns": columns, "job": "j"}
                        rows = iter(lambda: list(cursor.fetchmany(100)), [])  # noqa: B023 - used up here
                        left[message["id"]] = [dict(zip(names, row, strict=True)) for part in rows for row in part]
                        answer |= {"has_results": bool(names), "update_count": -1}
                        answer |= self.block(left, message["id"])
                case "sqlmore":
                    answer |= self.block(left, message["cont_id"])
            time.sleep(self.delay_s)
            try:
                connection.send(json.dumps(answer))
            except ConnectionClosed:  # by a client that did not want to wait
                return

    def block(self, left: dict[str, list[Any]], statement: str) -> dict[str, Any]:
        rows, left[statement] = left[statement][:BLOCK_ROWS], left[statement][BLOCK_ROWS:]
        return {"data": rows, "is_done": not left[statement]}

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Mapepire]:
    running = Mapepire(System(tmp_path / "prod01"), tmp_path)
    yield running
    running.close()


def session(server: Mapepire, password: str = PASSWORD, **options: Any) -> SqlSession:
    return SqlSession(mapepire, SqlTarget(host="127.0.0.1", port=server.port, user="FLOW", **options), lambda: password)


def groups() -> RepeatedQuery:
    return RepeatedQuery(PackQuery(table="NRG_INFO", sql=("SELECT * FROM QSYS2.NRG_INFO",)), 15, "PROD01", None)


def test_an_untrusted_certificate_is_refused_before_the_password_is_sent(server: Mapepire) -> None:
    with pytest.raises(SessionError, match="certificate verify failed") as raised:
        session(server).open()
    assert raised.value.kind is ErrorKind.LOST
    assert server.connections == []


@pytest.mark.parametrize("trust", ["ca", "nobody"])
def test_rows_come_in_blocks_over_one_connection(server: Mapepire, trust: str) -> None:
    for n in range(5):
        row = {"NRG_NAME": f"NRG{n}", "LINK_COUNT": n}
        server.system.add("QSYS2", "NRG_INFO", row) if n else server.system.table("QSYS2", "NRG_INFO", row)
    client = session(server, **({"ca": server.ca} if trust == "ca" else {"verify": False}))
    sample = groups()
    for number in (1, 2):
        (batch,) = sample.read(client)
        assert batch.columns == ("NRG_NAME", "LINK_COUNT")
        assert [tuple(row) for row in batch.rows] == [(f"NRG{n}", n) for n in range(5)]
        assert batch.position == {"n": number}
    assert len(server.connections) == 1
    client.close()


def test_a_wrong_password_is_reported_as_a_refusal(server: Mapepire) -> None:
    with pytest.raises(SessionError) as raised:
        session(server, "hunter2", ca=server.ca).open()
    assert raised.value.kind is ErrorKind.REFUSED
    assert "hunter2" not in str(raised.value)


def test_a_view_that_is_not_there_and_a_connection_that_is_lost(server: Mapepire) -> None:
    client, sample = session(server, ca=server.ca), groups()
    (batch,) = sample.read(client)
    assert batch.trouble
    assert "QSYS2.NRG_INFO (42704)" in batch.trouble
    server.system.nrg(7)
    (batch,) = sample.read(client)
    assert len(batch.rows) == 1
    server.connections[-1].close()
    with pytest.raises(SessionError) as raised:
        list(sample.read(client))
    assert raised.value.kind is ErrorKind.LOST
    (batch,) = sample.read(client)
    assert (client.number, batch.position) == (2, {"n": 3})
    client.close()


def test_a_statement_that_takes_too_long_ends_with_its_connection_and_the_next_one_connects_again(
    server: Mapepire,
) -> None:
    server.system.nrg(7)
    client = session(server, ca=server.ca)
    client.open()
    server.delay_s = 2
    with client.limited(0.1), pytest.raises(SessionError, match=r"longer than 0\.1 s") as raised:
        list(client.query("SELECT * FROM QSYS2.NRG_INFO").rows)
    assert raised.value.kind is ErrorKind.SLOW
    server.delay_s = 0
    (batch,) = groups().read(client)
    assert (client.number, len(batch.rows)) == (2, 1)
    client.close()
