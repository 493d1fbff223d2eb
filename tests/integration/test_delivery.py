"""A real Alertmanager sends an alert to each receiver of the example: mail, PagerDuty, Slack, Teams, webhook."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, cast

import httpx
import pytest
import yaml
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from tests.integration.test_alerts import get, running
from tests.support.dds import Authority
from tests.support.ports import free_ports
from tests.support.prometheus import REPOSITORY, folder, program, run
from tests.support.waiting import until

HOST = "127.0.0.1"
EXAMPLE = REPOSITORY / "dashboards/prometheus/alertmanager.example.yml"
SECRET = "the secret of the test"
BOARD, RUNBOOK = "http://127.0.0.1:13000/d/cf-mirror", "https://docs.example/runbooks/link-capped"


class Sites:
    """A mail server that requires TLS and a password, and a web server that keeps what it is sent."""

    def __init__(self, authority: Authority) -> None:
        self.posts: list[tuple[str, str | None, dict[str, Any]]] = []
        self.mails: list[tuple[list[str], EmailMessage]] = []
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(authority.certificate, authority.key)
        self.mail = Controller(
            self,
            hostname=HOST,
            port=free_ports(1)[0],
            tls_context=tls,
            require_starttls=True,
            auth_required=True,
            auth_exclude_mechanism=["LOGIN"],  # whose challenge Go does not accept
            authenticator=self._authenticate,
        )
        posts = self.posts

        class Web(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                posts.append((self.path, self.headers["Authorization"], body))
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.web = ThreadingHTTPServer((HOST, 0), Web)
        self.url = f"http://{HOST}:{self.web.server_port}"

    @staticmethod
    def _authenticate(_: object, __: object, ___: object, mechanism: str, data: object) -> AuthResult:
        known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"counterflow", SECRET.encode())
        return AuthResult(success=known, handled=True)

    async def handle_DATA(self, _: object, __: object, envelope: Any) -> str:  # noqa: N802 - the name is the library's
        message = cast(EmailMessage, message_from_bytes(envelope.content, policy=policy.default))
        self.mails.append((envelope.rcpt_tos, message))
        return "250 OK"

    def of(self, path: str) -> list[dict[str, Any]]:
        return [body for where, _, body in self.posts if where == path]


class Delivery(NamedTuple):
    """A running Alertmanager with the receivers of the example, and the sites that they lead to."""

    url: str
    sites: Sites

    def fire(self, receiver: str, system: str) -> None:
        labels = {"alertname": "CounterflowLinkCapped", "severity": "critical", "system": system, "to": receiver}
        texts = {"summary": f"{system}: link NRG1 is capped", "description": "0.7004 of its bytes"}
        texts |= {"dashboard_url": BOARD, "runbook_url": RUNBOOK}
        alerts = [{"labels": labels, "annotations": texts}]
        httpx.post(f"{self.url}/api/v2/alerts", json=alerts, trust_env=False).raise_for_status()


@pytest.fixture(scope="module")
def delivery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    place = tmp_path_factory.mktemp("delivery")
    authority = Authority(place / "authority")
    sites = Sites(authority)
    text = EXAMPLE.read_text()
    for name in ("switch-token", "pagerduty-key", "webhook-token", "mail-password"):
        (place / name).write_text(SECRET)
    (place / "slack-url").write_text(f"{sites.url}/slack/{SECRET.replace(' ', '-')}")
    text = text.replace("/etc/alertmanager", str(place)).replace("mail.example.com:587", f"{HOST}:{sites.mail.port}")
    text = text.replace("https://events.pagerduty.com/v2/enqueue", f"{sites.url}/pagerduty")
    config = yaml.safe_load(text.replace("https://desk.example.com", sites.url))
    names = [receiver["name"] for receiver in config["receivers"]]
    routes: list[dict[str, Any]] = [{"receiver": name, "matchers": [f"to = {name}"]} for name in names]
    always = {"receiver": "webhook", "matchers": ["to = muted"], "mute_time_intervals": ["maintenance"]}
    quick = {"group_by": ["..."], "group_wait": "0s", "group_interval": "1s"}
    config["route"] = {"receiver": "webhook", "routes": [*routes, always], **quick}
    config["time_intervals"] = [{"name": "maintenance", "time_intervals": [{"years": ["2000:2999"]}]}]
    for receiver in config["receivers"]:
        for mail in receiver.get("email_configs", ()):
            mail["tls_config"] = {"ca_file": str(authority.authority)}
    (place / "alertmanager.yml").write_text(yaml.safe_dump(config))
    [port] = free_ports(1)
    url = f"http://{HOST}:{port}"
    command = (
        *(program("prometheus-alertmanager"), f"--config.file={place / 'alertmanager.yml'}"),
        *(f"--storage.path={place / 'alerts'}", f"--web.listen-address={HOST}:{port}", "--cluster.listen-address="),
    )
    web = threading.Thread(target=sites.web.serve_forever)
    web.start()
    sites.mail.start()
    try:
        with running(place / "log", *command, cwd=folder("prometheus-alertmanager")):
            until(lambda: get(f"{url}/-/ready"), f"Alertmanager: {(place / 'log').read_text()}")
            yield Delivery(url, sites)
    finally:
        sites.mail.stop()
        sites.web.shutdown()
        sites.web.server_close()
        web.join()


@pytest.mark.parametrize(
    ("receiver", "to"),
    [("mail", "performance@example.com"), ("teams", "0123abcd.example.onmicrosoft.com@emea.teams.ms")],
)
def test_a_mail_arrives_over_tls_with_a_password(delivery: Delivery, receiver: str, to: str) -> None:
    delivery.fire(receiver, f"SYS-{receiver}")

    def arrived() -> list[EmailMessage]:
        return [mail for recipients, mail in delivery.sites.mails if recipients == [to]]

    [mail] = until(arrived, f"mail to {to}")
    assert mail["Subject"] == f"[firing] SYS-{receiver}: link NRG1 is capped"
    assert mail["From"] == "counterflow@example.com"
    body = cast(EmailMessage, mail.get_body(("plain", "html"))).get_content()
    assert "0.7004 of its bytes" in body
    assert BOARD in body
    assert SECRET not in str(mail)


def test_pagerduty_is_sent_an_event(delivery: Delivery) -> None:
    delivery.fire("pager", "SYSP")
    [event] = until(lambda: delivery.sites.of("/pagerduty"), "event")
    assert (event["routing_key"], event["event_action"]) == (SECRET, "trigger")
    assert event["payload"]["summary"] == "SYSP: link NRG1 is capped"
    assert event["payload"]["custom_details"]["description"] == "0.7004 of its bytes\n"
    assert (event["client_url"], event["links"]) == (BOARD, [{"href": RUNBOOK, "text": "runbook"}])


def test_slack_is_sent_a_message(delivery: Delivery) -> None:
    delivery.fire("notices", "SYSS")
    [message] = until(lambda: delivery.sites.of(f"/slack/{SECRET.replace(' ', '-')}"), "message")
    [part] = message["attachments"]
    assert part["title"] == "[firing] SYSS: link NRG1 is capped"
    assert part["title_link"] == BOARD
    assert part["text"] == f"0.7004 of its bytes <{RUNBOOK}|runbook>\n"


def test_a_webhook_is_sent_the_alert_with_its_token(delivery: Delivery) -> None:
    delivery.fire("webhook", "SYSW")

    def arrived() -> list[tuple[str | None, dict[str, Any]]]:
        return [
            (token, alert)
            for _, token, body in delivery.sites.posts
            for alert in body.get("alerts", ())
            if alert["labels"]["system"] == "SYSW"
        ]

    [(token, alert)] = until(arrived, "webhook")
    assert token == f"Bearer {SECRET}"
    assert alert["annotations"]["summary"] == "SYSW: link NRG1 is capped"


def test_what_is_silenced_or_in_a_maintenance_window_is_not_sent(delivery: Delivery) -> None:
    words = ("silence", "add", "--comment=firmware", "--duration=2h", "--author=test", "system=QUIET")
    silenced = run("amtool", f"--alertmanager.url={delivery.url}", *words)
    assert silenced.returncode == 0, silenced.stderr
    delivery.fire("webhook", "QUIET")
    delivery.fire("muted", "MUTED")
    delivery.fire("webhook", "LOUD")

    def systems() -> set[str]:
        return {alert["labels"]["system"] for body in delivery.sites.of("/alerts") for alert in body["alerts"]}

    until(lambda: "LOUD" in systems(), "the alert that is not silenced")
    assert not systems() & {"QUIET", "MUTED"}
    known = httpx.get(f"{delivery.url}/api/v2/alerts", trust_env=False).json()
    state = {alert["labels"]["system"]: alert["status"]["state"] for alert in known}
    assert state["QUIET"] == "suppressed"
