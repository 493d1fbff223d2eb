"""The certificate by which Flink's processes and their clients recognise each other.

A home has one key pair, whose certificate is self-signed: whoever holds the key is the stack, and nobody else is
trusted. Java reads it from a PKCS12 store, Python from a PEM file; only their owner can read either.
"""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from counterflow.stack.install import exclusive
from counterflow.stack.secret import private, secret
from counterflow.stack.settings import HOST, StackSettings

NEVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""The end of a certificate that does not expire (RFC 5280, 4.1.2.5)."""
_NAME, _PASSWORD = "counterflow-flink", "flink-store"


def make(settings: StackSettings) -> None:
    """Make key and certificate, unless they are there."""
    made = (settings.flink_certificate, store(settings), store(settings).parent / _PASSWORD)
    with exclusive(settings.flink_home / "certificate.lock"):  # parts in separate containers start at once
        if all(file.exists() for file in made):
            return
        pem, bundle = issue(password(settings).encode())
        private(settings.flink_certificate, pem)
        private(store(settings), bundle)


def store(settings: StackSettings) -> Path:
    """Return the PKCS12 store, which holds both what Java presents and what it trusts."""
    return settings.flink_certificate.with_suffix(".p12")


def password(settings: StackSettings) -> str:
    """Return the store's password, generated at first use."""
    return secret(store(settings).parent, _PASSWORD).read_text()


def issue(password: bytes) -> tuple[bytes, bytes]:
    """Return a new key and its certificate, which does not expire, as PEM and as a PKCS12 store."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _NAME)])
    public = key.public_key()
    builder = x509.CertificateBuilder(name, name, public, x509.random_serial_number())
    extensions: tuple[tuple[x509.ExtensionType, bool], ...] = (
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), False),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), False),
        (x509.SubjectKeyIdentifier.from_public_key(public), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(public), False),
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    begin = datetime.now(UTC) - timedelta(minutes=5)
    signed = builder.not_valid_before(begin).not_valid_after(NEVER).sign(key, hashes.SHA256())
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem = plain + signed.public_bytes(Encoding.PEM)
    return pem, pkcs12.serialize_key_and_certificates(
        _NAME.encode(), key, signed, None, BestAvailableEncryption(password)
    )
