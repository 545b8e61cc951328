"""The second factor, by the documents' own test vectors."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from taisai.server.auth.credentials import (
    DRIFT,
    accepted_step,
    base32,
    code_at,
    from_base32,
    new_secret,
    otpauth,
    step_of,
)
from tests.server.auth.staffed_house import NOON, STEP_MS, counted

RFC = b"12345678901234567890"
RFC_4226 = "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489".split()  # noqa: SIM905
RFC_6238 = {
    59: "94287082",
    1_111_111_109: "07081804",
    1_111_111_111: "14050471",
    1_234_567_890: "89005924",
    2_000_000_000: "69279037",
    20_000_000_000: "65353130",
}
HERE = step_of(NOON)


@pytest.mark.parametrize(("counter", "code"), list(enumerate(RFC_4226)))
def test_the_vectors_of_rfc_4226(counter: int, code: str) -> None:
    assert code_at(RFC, counter) == code


@pytest.mark.parametrize(("second", "code"), list(RFC_6238.items()))
def test_the_vectors_of_rfc_6238(second: int, code: str) -> None:
    assert code_at(RFC, step_of(second * 1000)) == code[-6:]


@pytest.mark.parametrize("drift", range(-3, 4))
def test_a_code_counts_in_its_own_half_minute_and_in_those_beside_it(drift: int) -> None:
    accepted = accepted_step(RFC, code_at(RFC, HERE + drift), now=NOON, last=0)
    assert accepted == (HERE + drift if abs(drift) <= DRIFT else None)


def test_no_code_is_used_twice_nor_one_before_it() -> None:
    code = code_at(RFC, HERE)
    assert accepted_step(RFC, code, now=NOON, last=HERE - 1) == HERE
    assert accepted_step(RFC, code, now=NOON, last=HERE) is None
    assert accepted_step(RFC, code, now=NOON + STEP_MS, last=HERE) is None
    assert accepted_step(RFC, code_at(RFC, HERE - 1), now=NOON, last=HERE) is None
    assert accepted_step(RFC, code_at(RFC, HERE + 1), now=NOON, last=HERE) == HERE + 1


def test_the_first_half_minute_of_all_is_no_error() -> None:
    assert accepted_step(RFC, RFC_4226[1], now=0, last=0) == 1


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "\ud800", "-12345", "１２３４５６"]
)
def test_what_is_no_code_is_refused(code: str) -> None:
    assert accepted_step(RFC, code, now=NOON, last=0) is None


def test_blanks_do_not_matter() -> None:
    code = code_at(RFC, HERE)
    assert accepted_step(RFC, f" {code[:3]} {code[3:]} ", now=NOON, last=0) == HERE


def test_an_authenticator_is_given_all_it_needs() -> None:
    secret = new_secret(counted())
    assert len(secret) == 20
    assert from_base32(base32(secret)) == secret
    uri = urlsplit(otpauth(secret, person="Sue Lim", issuer="Lotus & Co"))
    assert (uri.scheme, uri.netloc, uri.path) == ("otpauth", "totp", "/Lotus%20%26%20Co:Sue%20Lim")
    given = {name: value for name, (value,) in parse_qs(uri.query).items()}
    assert given == {
        "secret": base32(secret),
        "issuer": "Lotus & Co",
        "digits": "6",
        "period": "30",
        "algorithm": "SHA1",
    }
