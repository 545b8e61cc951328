"""A witness: what it cosigns, what it refuses, and what it remembers over a restart."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from taisai.journal.seals.checkpoints import MOST_SIGNATURES, read_head, read_signature, read_signed
from taisai.journal.seals.cosignatures import cosigned, cosigned_at
from taisai.journal.seals.keys import KeysError, PublicKey, WitnessKey, load_key
from taisai.journal.seals.merkle import EMPTY_ROOT, consistency_proof
from taisai.witness import service as module
from taisai.witness.errors import WitnessError
from taisai.witness.memory import SeenCheckpoints
from taisai.witness.protocol import MOST_PROOF, SIZE_TYPE, read_request, written_request
from taisai.witness.service import MOST_LOGS, WitnessReply, read_logs
from tests.witness.logs import (
    KEY,
    LOG_KEY,
    NOW,
    ORIGIN,
    OTHER_KEY,
    PUBLIC,
    leaves,
    note,
    request,
    sent,
    service,
)

NINE = leaves(9)


# What it cosigns


def test_a_cosignature_is_what_the_specification_says_byte_for_byte(tmp_path: Path) -> None:
    """Written from c2sp.org/tlog-cosignature with the library alone: no function of ours takes part."""
    reply = sent(service(tmp_path), 0, NINE)
    assert reply.status == 200
    dash, name, blob = reply.text.removesuffix("\n").split(" ")
    assert (dash, name) == ("—", "witness.example/w1")
    data = base64.b64decode(blob)
    raw = KEY.public.raw
    assert data[:4] == hashlib.sha256(b"witness.example/w1\n\x04" + raw).digest()[:4]
    assert int.from_bytes(data[4:12], "big") == NOW
    body = note(NINE).split("\n\n")[0] + "\n"
    message = f"cosignature/v1\ntime {NOW}\n{body}".encode()
    Ed25519PublicKey.from_public_bytes(raw).verify(data[12:], message)


def test_the_example_request_of_the_specification_is_read(tmp_path: Path) -> None:
    """The request of c2sp.org/tlog-witness, which is of a log that this witness does not know."""
    body = (
        "old 20852014\n"
        "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n"
        "jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=\n"
        "5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=\n"
        "/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=\n"
        "\n"
        "example.com/behind-the-sofa\n"
        "20852163\n"
        "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
        "\n"
        "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/"
        "Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    ).encode()
    asked = read_request(body)
    assert (asked.old, len(asked.proof), asked.head.size) == (20_852_014, 4, 20_852_163)
    assert written_request(asked.old, asked.proof, asked.text) == body
    assert service(tmp_path).add(body).status == 404


@pytest.mark.parametrize("old", range(10))
def test_it_cosigns_what_continues_what_it_has_seen(tmp_path: Path, old: int) -> None:
    witness = service(tmp_path)
    assert sent(witness, 0, NINE[:old]).status == 200
    reply = sent(witness, old, NINE)
    assert reply.status == 200
    signature = read_signature(reply.text.removesuffix("\n"), 1)
    assert cosigned_at(read_head(note(NINE)).body, [signature], PUBLIC) == NOW + 1


def test_the_same_checkpoint_again_is_cosigned_again_and_not_written_again(tmp_path: Path) -> None:
    witness = service(tmp_path)
    assert sent(witness, 0, NINE).status == 200
    before = (tmp_path / "seen").read_bytes()
    assert sent(witness, 9, NINE).status == 200
    assert (tmp_path / "seen").read_bytes() == before


def test_a_log_with_other_lines_of_its_own_is_cosigned_too(tmp_path: Path) -> None:
    """Taisai's checkpoints have a line with the time; those of other logs may have none, or others."""
    root = base64.b64encode(EMPTY_ROOT).decode()
    for extra in ("", "one\ntwo\n"):
        body = f"{ORIGIN}\n0\n{root}\n{extra}"
        blob = bytes.fromhex(LOG_KEY.public.id) + LOG_KEY.sign(body.encode())
        text = f"{body}\n— {LOG_KEY.name} {base64.b64encode(blob).decode()}\n"
        witness = service(tmp_path)
        assert witness.add(written_request(0, [], text)).status == 200, extra
        witness.seen.close()


# What it refuses


def test_an_unknown_log_and_an_unknown_key_are_refused(tmp_path: Path) -> None:
    witness = service(tmp_path)
    assert witness.add(request(0, NINE, origin="taisai/other")).status == 404
    assert witness.add(request(0, NINE, OTHER_KEY)).status == 403
    assert (tmp_path / "seen").read_bytes() == b""


def test_an_old_size_that_is_not_what_it_has_seen_is_answered_with_what_it_has_seen(tmp_path: Path) -> None:
    witness = service(tmp_path)
    assert sent(witness, 3, NINE) == WitnessReply(409, "0\n", SIZE_TYPE)
    assert sent(witness, 0, NINE[:5]).status == 200
    for old in (0, 3, 7):
        assert sent(witness, old, NINE) == WitnessReply(409, "5\n", SIZE_TYPE)


def test_an_old_size_above_the_checkpoint_is_refused(tmp_path: Path) -> None:
    witness = service(tmp_path)
    assert sent(witness, 0, NINE).status == 200
    assert witness.add(written_request(9, [], note(NINE[:4]))).status == 400


def test_a_second_history_is_refused_whatever_its_size(tmp_path: Path) -> None:
    witness, second = service(tmp_path), leaves(9, "forged")
    assert sent(witness, 0, NINE[:5]).status == 200
    assert sent(witness, 5, second[:5]) == WitnessReply(409, "5\n", SIZE_TYPE)
    for size in range(6, 10):
        assert sent(witness, 5, second[:size]).status == 422, size
        mixed = [*NINE[:4], *second[4:size]]
        assert sent(witness, 5, mixed).status == 422, size
    assert witness.add(written_request(5, [], note(second))).status == 422
    assert sent(witness, 5, NINE).status == 200, "and it still continues the first one"


def test_sabotage_a_witness_that_checks_no_proof_cosigns_a_second_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "check_consistency", lambda **_given: True)
    witness = service(tmp_path)
    assert sent(witness, 0, NINE[:5]).status == 200
    assert sent(witness, 5, leaves(9, "forged")).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"old 0\n",
        b"old 0\n\n",
        b"old -1\n\n" + note(NINE).encode(),
        b"old 00\n\n" + note(NINE).encode(),
        b"old 9223372036854775808\n\n" + note(NINE).encode(),
        b"new 0\n\n" + note(NINE).encode(),
        b"old 0\nAAAA\n\n" + note(NINE).encode(),
        b"old 0\n\xff\n\n" + note(NINE).encode(),
        b"old 0\n\n" + note(NINE).encode().removesuffix(b"\n"),
        b"old 0\n\n" + note(NINE).encode().replace("—".encode(), b"-"),
        b"old 0\n\n" + b"x\n" * 40,
    ],
)
def test_what_is_no_request_is_refused_and_says_why(tmp_path: Path, body: bytes) -> None:
    reply = service(tmp_path).add(body)
    assert reply.status == 400
    assert reply.text.startswith(("expected", "invalid checkpoint"))


def test_one_line_of_proof_and_one_signature_too_many_are_refused(tmp_path: Path) -> None:
    witness, most = service(tmp_path), [bytes(32)] * MOST_PROOF
    assert witness.add(written_request(0, most, note(NINE))).status == 422
    assert "at most 63 lines" in witness.add(written_request(0, [*most, bytes(32)], note(NINE))).text
    text = note(NINE)
    stranger = cosigned(read_head(text).body, OTHER_KEY, at=1).line
    full = text + stranger * (MOST_SIGNATURES - 1)
    assert witness.add(written_request(0, [], full)).status == 200
    assert witness.add(written_request(0, [], full + stranger)).status == 400


# What it remembers


def test_it_remembers_over_a_restart(tmp_path: Path) -> None:
    first = service(tmp_path)
    assert sent(first, 0, NINE[:5]).status == 200
    first.seen.close()
    again = service(tmp_path)
    assert sent(again, 0, NINE).text == "5\n"
    assert sent(again, 5, leaves(9, "forged")).status == 422
    assert sent(again, 5, NINE).status == 200


def test_what_it_answers_is_on_the_disk_before_it_answers(tmp_path: Path) -> None:
    """Nothing is flushed at an end: another reader sees it while the witness still runs."""
    witness = service(tmp_path)
    assert sent(witness, 0, NINE).status == 200
    assert len((tmp_path / "seen").read_bytes().splitlines()) == 1


def test_a_memory_that_cannot_be_written_cosigns_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = service(tmp_path)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("taisai.witness.memory.os.fsync", full)
    assert sent(witness, 0, NINE).status == 500
    monkeypatch.undo()
    assert sent(witness, 0, NINE).status == 200


def test_a_line_that_a_full_disk_has_cut_is_not_written_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness, write = service(tmp_path), os.write
    monkeypatch.setattr("taisai.witness.memory.os.write", lambda to, data: write(to, data[:50]))
    assert sent(witness, 0, NINE[:5]).status == 500
    monkeypatch.undo()
    assert sent(witness, 0, NINE).status == 200
    witness.seen.close()
    assert sent(service(tmp_path), 0, NINE).text == "9\n"


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_a_crash_has_cut_was_never_answered_and_is_left_where_it_is(
    tmp_path: Path, cut: int
) -> None:
    first = service(tmp_path)
    assert sent(first, 0, NINE[:5]).status == 200
    whole = (tmp_path / "seen").read_bytes()
    assert sent(first, 5, NINE).status == 200
    first.seen.close()
    (tmp_path / "seen").write_bytes(whole + (tmp_path / "seen").read_bytes()[len(whole) :][:cut])
    again = service(tmp_path)
    assert sent(again, 5, NINE).status == 200, "what was cut is as if it had never come"
    again.seen.close()
    third = service(tmp_path)
    assert third.seen.head(ORIGIN) == read_head(note(NINE))
    assert (tmp_path / "seen.1").exists()


def test_a_full_file_is_continued_in_the_next_with_every_log(tmp_path: Path) -> None:
    other = "taisai/pearl-1"
    logs = {ORIGIN: [LOG_KEY.public], other: [OTHER_KEY.public]}
    witness = service(tmp_path, logs=logs, most=700)
    assert witness.add(request(0, NINE[:1], OTHER_KEY, other)).status == 200
    for size in range(1, 10):
        assert sent(witness, size - 1, NINE[:size]).status == 200
    witness.seen.close()
    assert (tmp_path / "seen.3").exists()
    again = service(tmp_path, logs=logs)
    assert {origin: again.seen.head(origin).size for origin in logs} == {ORIGIN: 9, other: 1}  # type: ignore[union-attr]


def test_old_files_may_be_moved_away_but_not_the_last_two(tmp_path: Path) -> None:
    witness = service(tmp_path, most=400)
    for size in range(1, 10):
        assert sent(witness, size - 1, NINE[:size]).status == 200
    witness.seen.close()
    numbers = sorted(int(path.suffix[1:]) for path in tmp_path.glob("seen.*"))
    assert len(numbers) >= 3
    for number in (0, *numbers[:-2]):
        (tmp_path / (f"seen.{number}" if number else "seen")).unlink()
    again = SeenCheckpoints(tmp_path / "seen")
    assert again.head(ORIGIN) == read_head(note(NINE))
    again.close()
    (tmp_path / f"seen.{numbers[-2]}").unlink()
    with pytest.raises(WitnessError, match="cannot read what was seen"):
        SeenCheckpoints(tmp_path / "seen")


def test_an_older_checkpoint_that_somebody_appends_changes_nothing(tmp_path: Path) -> None:
    """On a mount that only takes appends, this is all that who holds the machine can do."""
    witness = service(tmp_path)
    assert sent(witness, 0, NINE[:3]).status == 200
    older = (tmp_path / "seen").read_bytes()
    assert sent(witness, 3, NINE).status == 200
    witness.seen.close()
    with (tmp_path / "seen").open("ab") as opened:
        opened.write(older)
    assert sent(service(tmp_path), 3, NINE[:5]).text == "9\n"


def test_a_damaged_or_missing_memory_and_a_second_witness_are_refused(tmp_path: Path) -> None:
    witness = service(tmp_path)
    with pytest.raises(WitnessError, match="another program remembers in this file"):
        SeenCheckpoints(tmp_path / "seen")
    witness.seen.close()
    with pytest.raises(WitnessError, match="File exists"):
        SeenCheckpoints.make(tmp_path / "seen")
    (tmp_path / "seen").write_bytes(b"{}\n")
    with pytest.raises(WitnessError, match=r"damaged.*\(line 1\)"):
        SeenCheckpoints(tmp_path / "seen")
    (tmp_path / "seen").unlink()
    with pytest.raises(WitnessError, match="`taisai witness init` makes it"):
        SeenCheckpoints(tmp_path / "seen")


# Its files


def test_the_list_of_logs(tmp_path: Path) -> None:
    path = tmp_path / "logs.txt"
    path.write_text(f"# mine\n\n{ORIGIN} {LOG_KEY.public.text}\n{ORIGIN} {OTHER_KEY.public.text}\n")
    assert read_logs(path) == {ORIGIN: [LOG_KEY.public, OTHER_KEY.public]}
    for text, problem in (
        ("taisai/lotus+1 x", "expected an origin"),
        (f"{ORIGIN} x", "expected a public key"),
        (f"{ORIGIN} {PUBLIC.text}", "expected 01 and"),
    ):
        path.write_text(text)
        with pytest.raises(WitnessError, match=rf"{problem}.*line 1"):
            read_logs(path)
    lines = [f"taisai/{number} {LOG_KEY.public.text}" for number in range(MOST_LOGS + 1)]
    path.write_text("\n".join(lines[:-1]))
    assert len(read_logs(path)) == MOST_LOGS
    path.write_text("\n".join(lines))
    with pytest.raises(WitnessError, match=f"at most {MOST_LOGS} logs, got {MOST_LOGS + 1}"):
        read_logs(path)


def test_the_key_of_a_witness_is_of_another_kind_than_the_key_of_a_journal() -> None:
    """So that no cosignature passes for the signature of a house, nor the other way round."""
    assert WitnessKey.parse(PUBLIC.text) == PUBLIC
    assert load_key(PUBLIC.text, WitnessKey) == PUBLIC
    assert KEY.public != PUBLIC
    with pytest.raises(KeysError, match="expected 01 and"):
        PublicKey.parse(PUBLIC.text)
    with pytest.raises(KeysError, match="expected 04 and"):
        WitnessKey.parse(KEY.public.text)


def test_a_forged_or_foreign_cosignature_is_none() -> None:
    body = read_head(note(NINE)).body
    line = cosigned(body, KEY, at=NOW)
    assert cosigned_at(body, [line], PUBLIC) == NOW
    data = line.signature
    for forged in (
        data[:-1],
        data + b"\0",
        bytes([data[0] ^ 1]) + data[1:],
        data[:7] + bytes([data[7] ^ 1]) + data[8:],
        data[:20] + bytes([data[20] ^ 1]) + data[21:],
        b"",
    ):
        assert cosigned_at(body, [line._replace(signature=forged)], PUBLIC) is None
        assert cosigned_at(body, [line, line._replace(signature=forged)], PUBLIC) is None
    assert cosigned_at(body, [cosigned(body, OTHER_KEY, at=NOW)], PUBLIC) is None
    assert cosigned_at(body.replace("9", "8", 1), [line], PUBLIC) is None
    with pytest.raises(ValueError, match="expected a time from 0"):
        cosigned(body, KEY, at=-1)


def test_a_cosignature_under_a_checkpoint_does_not_hide_the_houses_own(tmp_path: Path) -> None:
    text = note(NINE) + sent(service(tmp_path), 0, NINE).text
    assert read_signed(text).is_signed_by(LOG_KEY.public)
    assert cosigned_at(read_head(text).body, read_signed(text).signatures, PUBLIC) == NOW


def test_the_proof_of_a_request_is_that_of_rfc_6962() -> None:
    asked = read_request(request(3, NINE))
    assert list(asked.proof) == consistency_proof(NINE, 3, 9)
