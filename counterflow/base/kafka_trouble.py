"""Explains in words why Kafka does not answer.

librdkafka passes the cause to `error_cb`; the waiting call raises "Broker transport failure" whatever is wrong.
"""

from __future__ import annotations

import re
from typing import Any

from confluent_kafka import KafkaError

from counterflow.base.kafka import Kafka

FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
"""Codes by which a producer learns that it is fenced: another with its `transactional.id` has begun."""
_WHERE = re.compile(r"^(?:\w+://)?(?P<place>[^/]+)/\S+: (?P<what>.*?)(?: \(after .*)?$", re.DOTALL)
_PROTOCOLS = "SASL_PLAINTEXT, SASL_SSL or SSL"


class Trouble:
    """The newest cause that librdkafka reported for one connection; pass the object as `error_cb`.

    Its `str` names what to change, and is empty where nothing was reported. `lasting` is true where waiting does not
    help: the broker answers and refuses.
    """

    def __init__(self, kafka: Kafka) -> None:
        self._bootstrap = kafka.bootstrap
        self._protocol = str(kafka.settings.get("security.protocol", "PLAINTEXT")).upper()
        self._user = kafka.settings.get("sasl.username")
        place = kafka.secrets.get("sasl.password")
        self._password = f" in {place.file or place.env}" if place else ""
        self._error: Any = None
        self._down = False

    def __call__(self, error: Any) -> None:
        """Note what librdkafka reports; "all brokers are down" counts only where no other cause is known."""
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._down = True
        else:
            self._error = error

    def clear(self) -> None:
        """Forget the cause: the broker answers."""
        self._error = None
        self._down = False

    @property
    def lasting(self) -> bool:
        """Whether the broker refuses this user or this protocol."""
        return self._refuses_user or self._speaks_other_protocol

    @property
    def _refuses_user(self) -> bool:
        return self._error is not None and self._error.code() == KafkaError._AUTHENTICATION

    @property
    def _speaks_other_protocol(self) -> bool:
        if self._error is None:  # a listener that requires SASL or TLS closes a plain connection without an error
            return self._down and self._protocol == "PLAINTEXT"
        return "PLAINTEXT broker listener" in self._error.str() or "SSL handshake failed" in self._error.str()

    def __str__(self) -> str:
        if self._error is None:
            if self._speaks_other_protocol:
                return (
                    f"{self._bootstrap} closes every connection at once: security.protocol is PLAINTEXT here, "
                    f"its listener may want {_PROTOCOLS}"
                )
            return f"{self._bootstrap} closes every connection" if self._down else ""
        found = _WHERE.match(self._error.str())
        place, what = (found["place"], found["what"]) if found else (self._bootstrap, self._error.str())
        if self._refuses_user and "mechanism handshake" in what:
            return f"{place} does not take this sasl.mechanism: {what.rpartition('failed: Broker: ')[2]}"
        if self._refuses_user:
            return (
                f"{place} refuses user `{self._user}`: it does not know the user, or the password{self._password} "
                f"is wrong ({what})"
            )
        if "PLAINTEXT broker listener" in what:
            other = self._protocol.replace("SSL", "PLAINTEXT")
            return f"{place} speaks no TLS: security.protocol is {self._protocol} here, its listener may want {other}"
        if "SSL handshake failed" in what:
            return f"{place} and this client cannot agree on TLS; ssl.ca.location names whom to trust ({what})"
        if self._error.code() == KafkaError._RESOLVE:
            return f"the name in {place} cannot be resolved; kafka.bootstrap is {self._bootstrap}"
        return f"{place}: {what}"
