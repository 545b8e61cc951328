"""The client of a witness over a real connection, against answers of every kind; and the server's bounds."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from taisai.journal.seals.checkpoints import read_head
from taisai.journal.seals.cosignatures import cosigned, cosigned_at
from taisai.journal.seals.merkle import consistency_proof
from taisai.witness import server as module
from taisai.witness.client import FileWitness, HttpWitness
from taisai.witness.errors import SecondHistoryError, SilentWitnessError, WitnessedSizeError, WitnessError
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.protocol import MOST_ANSWER, MOST_REQUEST, PATH
from taisai.witness.server import MOST_CONNECTIONS
from tests.witness.logs import KEY, NOW, OTHER_KEY, PUBLIC, leaves, note, request, service, serving

NINE = leaves(9)
SECOND = leaves(9, "forged")


def add(witness: HttpWitness | FileWitness, old: int, of: list[bytes]) -> object:
    return witness.add(note(of), old, consistency_proof(of, old, len(of)) if old else [])


@pytest.fixture(params=["http", "file"])
def witness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HttpWitness | FileWitness]:
    """A witness of each kind; they behave alike."""
    if request.param == "file":
        SeenCheckpoints.make(tmp_path / "seen")
        with closing(FileWitness(tmp_path / "seen")) as file:
            yield file
        return
    with serving(service(tmp_path)) as url, closing(HttpWitness(url, PUBLIC)) as other:
        yield other


def test_a_witness_sees_growth_and_says_what_it_has_seen(witness: HttpWitness | FileWitness) -> None:
    add(witness, 0, NINE[:5])
    with pytest.raises(WitnessedSizeError) as caught:
        add(witness, 0, NINE)
    assert caught.value.size == 5
    add(witness, 5, NINE)
    add(witness, 9, NINE)


@pytest.mark.parametrize("size", [5, 6, 9])
def test_a_second_history_is_told_as_one(witness: HttpWitness | FileWitness, size: int) -> None:
    add(witness, 0, NINE[:5])
    with pytest.raises(SecondHistoryError, match="has seen other entries up to 5"):
        add(witness, 5, SECOND[:size])
    add(witness, 5, NINE)


def test_the_cosignature_is_that_of_the_key_that_the_house_names(tmp_path: Path) -> None:
    with serving(service(tmp_path)) as url, closing(HttpWitness(url, PUBLIC)) as witness:
        line = witness.add(note(NINE), 0, [])
        assert cosigned_at(read_head(note(NINE)).body, [line], PUBLIC) == NOW
    with (
        serving(service(tmp_path / "..", key=OTHER_KEY)) as url,
        closing(HttpWitness(url, PUBLIC)) as witness,
        pytest.raises(SilentWitnessError, match=f"no valid cosignature of {PUBLIC.name} {PUBLIC.id}"),
    ):
        witness.add(note(NINE), 0, [])


def test_a_witness_that_is_restarted_is_found_again(tmp_path: Path) -> None:
    first = service(tmp_path)
    with serving(first) as url:
        witness = HttpWitness(url, PUBLIC)
        add(witness, 0, NINE[:5])
    first.seen.close()
    with pytest.raises(SilentWitnessError, match="cannot be reached"):
        add(witness, 5, NINE)
    with serving(service(tmp_path), port=urlsplit(url).port or 0), closing(witness):
        add(witness, 5, NINE)


# A witness that lies, or is none


@contextmanager
def answering(*answers: bytes, pause: float = 0.0) -> Iterator[str]:
    """A server that gives one answer to each connection, a byte at a time if it pauses."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(10)

    def serve() -> None:
        for answer in answers:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                try:
                    connection.recv(65_536)
                    for place in range(0, len(answer), 1 if pause else len(answer)):
                        connection.sendall(answer[place : place + 1] if pause else answer)
                        time.sleep(pause)
                except OSError:
                    continue

    running = threading.Thread(target=serve, daemon=True)
    running.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
        running.join(15)


def answer(status: int, body: str) -> bytes:
    data = body.encode()
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(data)) + data


BODY = read_head(note(NINE)).body
GOOD = cosigned(BODY, KEY, at=NOW)
FORGED = GOOD._replace(signature=GOOD.signature[:-1] + bytes([GOOD.signature[-1] ^ 1]))


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (200, FORGED.line, "no valid cosignature"),
        (200, cosigned(BODY, OTHER_KEY, at=NOW).line, "no valid cosignature"),
        (200, cosigned(BODY.replace("9", "8", 1), KEY, at=NOW).line, "no valid cosignature"),
        (200, GOOD.line + FORGED.line, "no valid cosignature"),
        (200, "", "gave no cosignature"),
        (200, "nothing", "gave no cosignature"),
        (409, "", "gave no size"),
        (409, "-1", "gave no size"),
        (409, "9" * 20, "gave no size"),
        (409, "٣", "gave no size"),
        (302, "elsewhere", "answered 302: 'elsewhere'"),
        (403, "who are you", "answered 403: 'who are you'"),
        (404, "\x1b[31m", "answered 404"),
        (500, "", "answered 500"),
    ],
)
def test_an_answer_that_proves_nothing_counts_as_silence(status: int, body: str, problem: str) -> None:
    with (
        answering(answer(status, body)) as url,
        closing(HttpWitness(url, PUBLIC)) as witness,
        pytest.raises(SilentWitnessError, match=problem) as caught,
    ):
        witness.add(note(NINE), 0, [])
    assert str(caught.value).isprintable()


def test_an_answer_that_is_too_long_or_is_no_http_counts_as_silence() -> None:
    long = answer(200, "x" * (MOST_ANSWER + 1))
    for wrong, problem in ((long, f"more than {MOST_ANSWER} bytes"), (b"220 smtp\r\n", "cannot be reached")):
        with (
            answering(wrong) as url,
            closing(HttpWitness(url, PUBLIC)) as witness,
            pytest.raises(SilentWitnessError, match=problem),
        ):
            witness.add(note(NINE), 0, [])


def test_a_witness_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        with (
            closing(HttpWitness(url, PUBLIC, patience=0.2)) as witness,
            pytest.raises(SilentWitnessError, match="cannot be reached: timed out"),
        ):
            witness.add(note(NINE), 0, [])
    with pytest.raises(SilentWitnessError, match="cannot be reached"):
        HttpWitness(url, PUBLIC, patience=0.2).add(note(NINE), 0, [])


def test_an_answer_that_comes_byte_by_byte_can_be_ended() -> None:
    with answering(answer(200, GOOD.line), pause=0.05) as url, closing(HttpWitness(url, PUBLIC)) as witness:
        ending = threading.Timer(0.3, witness.abort)
        ending.start()
        since = time.monotonic()
        with pytest.raises(SilentWitnessError):
            witness.add(note(NINE), 0, [])
        assert time.monotonic() - since < 3
        ending.join()


# TLS


def certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """A certificate that nobody else signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "witness")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "w.crt").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "w.tls.key").write_bytes(pem)
    return folder / "w.crt", folder / "w.tls.key"


def test_a_witness_is_asked_over_tls_and_only_with_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    tls = certificate(tmp_path, "127.0.0.1")
    with serving(service(tmp_path), tls=tls) as url:
        assert url.startswith("https://")
        with closing(HttpWitness(url, PUBLIC, trust=tls[0])) as witness:
            add(witness, 0, NINE[:5])
        with (
            closing(HttpWitness(url, PUBLIC)) as stranger,
            pytest.raises(SilentWitnessError, match="certificate verify failed"),
        ):
            add(stranger, 5, NINE)


def test_a_certificate_of_another_address_is_refused(tmp_path: Path) -> None:
    tls = certificate(tmp_path, "192.0.2.7")
    with (
        serving(service(tmp_path), tls=tls) as url,
        closing(HttpWitness(url, PUBLIC, trust=tls[0])) as witness,
        pytest.raises(SilentWitnessError, match="certificate verify failed"),
    ):
        add(witness, 0, NINE)


# A file


def test_a_file_that_is_gone_counts_as_silence_and_is_found_again(tmp_path: Path) -> None:
    SeenCheckpoints.make(tmp_path / "seen")
    with closing(FileWitness(tmp_path / "seen")) as witness:
        add(witness, 0, NINE[:5])
        (tmp_path / "seen").rename(tmp_path / "unmounted")
        with pytest.raises(SilentWitnessError, match="No such file"):
            add(witness, 5, NINE)
        (tmp_path / "unmounted").rename(tmp_path / "seen")
        add(witness, 5, NINE)


# The server's bounds


@contextmanager
def connection_to(url: str) -> Iterator[http.client.HTTPConnection]:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)) as connection:
        yield connection


def test_the_server_refuses_other_paths_and_methods_and_what_is_too_large(tmp_path: Path) -> None:
    with serving(service(tmp_path)) as url, connection_to(url) as connection:
        for method, path, size, status in (
            ("GET", PATH, 0, 405),
            ("POST", "/", 0, 404),
            ("POST", PATH, MOST_REQUEST, 400),
            ("POST", PATH, MOST_REQUEST + 1, 413),
        ):
            connection.request(method, path, b"x" * size)
            response = connection.getresponse()
            response.read()
            assert response.status == status, (method, path, size)
            connection.close()


def test_the_server_refuses_more_requests_than_a_house_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BURST", 3)
    monkeypatch.setattr(module, "A_SECOND", 0)
    with serving(service(tmp_path)) as url, connection_to(url) as connection:
        statuses = []
        for _ in range(4):
            connection.request("POST", PATH, request(0, NINE))
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
    assert statuses == [200, 409, 409, 429]


def test_the_server_does_not_wait_for_a_body_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BODY_WITHIN", 0.2)
    with serving(service(tmp_path)) as url:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as slow:
            slow.sendall(b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nold 0")
            assert b" 408 " in slow.recv(4_096)


BEGUN: Final = {
    "nothing": b"",
    "half a head": b"POST /add-checkpoint HTTP/1.1\r\nHost: w",
    "a refused request": b"GET / HTTP/1.1\r\nHost: w\r\n\r\n",
}


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN.keys())
@pytest.mark.parametrize("sources", [1, 20])
def test_connections_that_strangers_hold_keep_no_house_out(
    tmp_path: Path, begun: bytes, sources: int
) -> None:
    """Money leaves a house only while its witness answers."""
    with serving(service(tmp_path)) as url, closing(HttpWitness(url, PUBLIC)) as house, ExitStack() as held:
        place = ("127.0.0.1", urlsplit(url).port or 0)
        assert add(house, 0, leaves(1))
        for number in range(MOST_CONNECTIONS + 10):
            stranger = held.enter_context(socket.socket())
            stranger.bind((f"127.0.0.{10 + number % sources}", 0))
            stranger.connect(place)
            with suppress(OSError):  # it was closed at once
                stranger.sendall(begun)
        assert add(house, 1, leaves(2))
        with closing(HttpWitness(url, PUBLIC)) as another:
            assert add(another, 2, leaves(3))


def test_headers_without_end_are_read_no_further(tmp_path: Path) -> None:
    with serving(service(tmp_path)) as url, socket.socket() as sent:
        sent.connect(("127.0.0.1", urlsplit(url).port or 0))
        sent.settimeout(5)
        sent.sendall(b"POST /add-checkpoint HTTP/1.1\r\n")
        with pytest.raises(ConnectionError):
            sent.sendall((b"x: " + b"y" * 10_000 + b"\r\n") * 2_000)


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(WitnessError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            module.listening_at("127.0.0.1", port)
