"""A real Alertmanager sends an alert to each receiver of the example: mail, PagerDuty, Slack, Teams, webhook."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple, cast

import httpx
import pytest
import yaml
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from tests.support.dds import Authority
from tests.support.ports import free_ports
from tests.support.prometheus import REPOSITORY, alertmanager, run
from tests.support.waiting import until
from tests.support.web import Post, receiving

HOST = "127.0.0.1"
EXAMPLE = REPOSITORY / "dashboards/prometheus/alertmanager.example.yml"
SECRET = "the secret of the test"
BOARD, RUNBOOK = "http://127.0.0.1:13000/d/cf-mirror", "https://docs.example/runbooks/link-capped"


class Mailbox:
    """A mail server that requires TLS and a password."""

    def __init__(self, authority: Authority) -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []
        self.server = Controller(
            self,
            hostname=HOST,
            port=free_ports(1)[0],
            tls_context=authority.server_context(),
            require_starttls=True,
            auth_required=True,
            auth_exclude_mechanism=["LOGIN"],  # whose challenge Go does not accept
            authenticator=self._authenticate,
        )

    @staticmethod
    def _authenticate(_: object, __: object, ___: object, mechanism: str, data: object) -> AuthResult:
        known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"counterflow", SECRET.encode())
        return AuthResult(success=known, handled=True)

    async def handle_DATA(self, _: object, __: object, envelope: Any) -> str:  # noqa: N802 - the name is the library's
        message = cast(EmailMessage, message_from_bytes(envelope.content, policy=policy.default))
        self.mails.append((envelope.rcpt_tos, message))
        return "250 OK"


class Delivery(NamedTuple):
    """A running Alertmanager with the receivers of the example, and what they were sent."""

    url: str
    mailbox: Mailbox
    posts: list[Post]

    def of(self, path: str) -> list[dict[str, Any]]:
        return [post.json() for post in self.posts if post.path == path]

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
    mailbox = Mailbox(authority)
    address = f"{HOST}:{free_ports(1)[0]}"
    mailbox.server.start()
    try:
        with receiving() as (site, posts):
            config = configured(place, authority, site, mailbox.server.port)
            with alertmanager(place, address, config):
                yield Delivery(f"http://{address}", mailbox, posts)
    finally:
        mailbox.server.stop()


def configured(place: Path, authority: Authority, site: str, mail_port: int) -> dict[str, Any]:
    """Return the configuration of the example, with sites and files of the test; a label chooses the receiver."""
    text = EXAMPLE.read_text()
    for name in ("switch-token", "pagerduty-key", "webhook-token", "mail-password"):
        (place / name).write_text(SECRET)
    (place / "slack-url").write_text(f"{site}/slack/{SECRET.replace(' ', '-')}")
    text = text.replace("/etc/alertmanager", str(place)).replace("mail.example.com:587", f"{HOST}:{mail_port}")
    text = text.replace("https://events.pagerduty.com/v2/enqueue", f"{site}/pagerduty")
    config: dict[str, Any] = yaml.safe_load(text.replace("https://desk.example.com", site))
    names = [receiver["name"] for receiver in config["receivers"]]
    routes: list[dict[str, Any]] = [{"receiver": name, "matchers": [f"to = {name}"]} for name in names]
    always = {"receiver": "webhook", "matchers": ["to = muted"], "mute_time_intervals": ["maintenance"]}
    quick = {"group_by": ["..."], "group_wait": "0s", "group_interval": "1s"}
    config["route"] = {"receiver": "webhook", "routes": [*routes, always], **quick}
    config["time_intervals"] = [{"name": "maintenance", "time_intervals": [{"years": ["2000:2999"]}]}]
    for receiver in config["receivers"]:
        for mail in receiver.get("email_configs", ()):
            mail["tls_config"] = {"ca_file": str(authority.authority)}
    return config


@pytest.mark.parametrize(
    ("receiver", "to"),
    [("mail", "performance@example.com"), ("teams", "0123abcd.example.onmicrosoft.com@emea.teams.ms")],
)
def test_a_mail_arrives_over_tls_with_a_password(delivery: Delivery, receiver: str, to: str) -> None:
    delivery.fire(receiver, f"SYS-{receiver}")

    def arrived() -> list[EmailMessage]:
        return [mail for recipients, mail in delivery.mailbox.mails if recipients == [to]]

    [mail] = until(arrived, f"mail to {to}")
    assert mail["Subject"] == f"[firing] SYS-{receiver}: link NRG1 is capped"
    assert mail["From"] == "counterflow@example.com"
    body = cast(EmailMessage, mail.get_body(("plain", "html"))).get_content()
    assert "0.7004 of its bytes" in body
    assert BOARD in body
    assert SECRET not in str(mail)


def test_pagerduty_is_sent_an_event(delivery: Delivery) -> None:
    delivery.fire("pager", "SYSP")
    [event] = until(lambda: delivery.of("/pagerduty"), "event")
    assert (event["routing_key"], event["event_action"]) == (SECRET, "trigger")
    assert event["payload"]["summary"] == "SYSP: link NRG1 is capped"
    assert event["payload"]["custom_details"]["description"] == "0.7004 of its bytes\n"
    assert (event["client_url"], event["links"]) == (BOARD, [{"href": RUNBOOK, "text": "runbook"}])


def test_slack_is_sent_a_message(delivery: Delivery) -> None:
    delivery.fire("notices", "SYSS")
    [message] = until(lambda: delivery.of(f"/slack/{SECRET.replace(' ', '-')}"), "message")
    [part] = message["attachments"]
    assert part["title"] == "[firing] SYSS: link NRG1 is capped"
    assert part["title_link"] == BOARD
    assert part["text"] == f"0.7004 of its bytes <{RUNBOOK}|runbook>\n"


def test_a_webhook_is_sent_the_alert_with_its_token(delivery: Delivery) -> None:
    delivery.fire("webhook", "SYSW")

    def arrived() -> list[tuple[str | None, dict[str, Any]]]:
        return [
            (post.headers["Authorization"], alert)
            for post in delivery.posts
            for alert in post.json().get("alerts", ())
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
        return {alert["labels"]["system"] for body in delivery.of("/alerts") for alert in body["alerts"]}

    until(lambda: "LOUD" in systems(), "the alert that is not silenced")
    assert not systems() & {"QUIET", "MUTED"}
    known = httpx.get(f"{delivery.url}/api/v2/alerts", trust_env=False).json()
    state = {alert["labels"]["system"]: alert["status"]["state"] for alert in known}
    assert state["QUIET"] == "suppressed"
