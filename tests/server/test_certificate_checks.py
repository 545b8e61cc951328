"""A start says whether browsers will believe the certificate of the house."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from taisai.server.config import Config
from taisai.server.runtime.certificate_checks import check_certificate
from taisai.server.runtime.startup_checks import StartupReport
from tests.server.house_folder import changed, lotus

HOST = "floor.house.example"


def certificate(folder: Path, host: str = HOST, *, days: int = 1) -> None:
    """A certificate that nobody else signed, and its key, in the folder of a house."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "house")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(9), now + timedelta(days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    (folder / "floor.crt").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "floor.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def house(folder: Path, **listen: object) -> Config:
    return changed(
        folder,
        listen={
            "host": "10.0.0.5", "origins": [f"https://{HOST}"], "tls_certificate": "floor.crt",
            "tls_key": "floor.key", **listen,
        },
    )  # fmt: skip


def lines(config: Config, *, trust: Path | None = None) -> list[str]:
    """What a start says that trusts one certificate, or what this machine trusts."""
    start = StartupReport()
    trusting = partial(ssl.create_default_context, cafile=None if trust is None else str(trust))
    check_certificate(config, start, trusting=trusting)
    return start.lines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("certificates") / "lotus"
    lotus(made)
    return made


def test_a_certificate_that_is_trusted_passes(folder: Path) -> None:
    certificate(folder)
    (line,) = lines(house(folder), trust=folder / "floor.crt")
    assert line == f"✓ certificate: floor.crt is trusted for {HOST}"


def test_one_of_an_authority_that_is_not_trusted_is_a_warning(folder: Path) -> None:
    certificate(folder)
    (line,) = lines(house(folder))
    assert line.startswith(f"! certificate: browsers may refuse floor.crt for {HOST}: self")
    assert "use one of a public authority" in line


def test_so_is_one_of_another_host_and_one_that_has_ended(folder: Path) -> None:
    certificate(folder, "other.example")
    (line,) = lines(house(folder), trust=folder / "floor.crt")
    assert "Hostname mismatch" in line
    certificate(folder, days=-1)
    (line,) = lines(house(folder), trust=folder / "floor.crt")
    assert "expired" in line


def test_what_cannot_be_used_is_refused(folder: Path) -> None:
    certificate(folder)
    (folder / "floor.crt").write_text("no certificate", "ascii")
    (line,) = lines(house(folder))
    assert line.startswith("✗ certificate: cannot use floor.crt with floor.key: ")


def test_behind_a_proxy_and_without_tls_nothing_is_looked_at(folder: Path) -> None:
    certificate(folder)
    assert lines(house(folder, behind_proxy=True)) == []
    assert lines(changed(folder, listen={})) == []
