"""The second factor, by the documents' own test vectors."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.hashes import SHA1

from taisai.server.auth.credentials import (
    OtpSecret,
    accepted_step,
    base32,
    confirmed,
    from_base32,
    is_beside,
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
OLD = OtpSecret(RFC, SHA1)
LONG = b"12345678901234567890123456789012"
NEW = OtpSecret(LONG)
RFC_6238_SHA256 = "119246"
"""The last six digits of the vector of RFC 6238 for 59 seconds."""


@pytest.mark.parametrize(("counter", "code"), list(enumerate(RFC_4226)))
def test_the_vectors_of_rfc_4226(counter: int, code: str) -> None:
    assert OLD.code(counter) == code


@pytest.mark.parametrize(("second", "code"), list(RFC_6238.items()))
def test_the_vectors_of_rfc_6238(second: int, code: str) -> None:
    assert OLD.code(step_of(second * 1000)) == code[-6:]


@pytest.mark.parametrize("drift", range(-3, 4))
@pytest.mark.parametrize("secret", [OLD, NEW])
def test_a_code_counts_in_its_own_half_minute_and_in_no_other(secret: OtpSecret, drift: int) -> None:
    code = secret.code(HERE + drift)
    assert accepted_step(secret, code, now=NOON, last=0) == (None if drift else HERE)
    assert is_beside(secret, code, now=NOON) == (abs(drift) == 1)


def test_a_code_counts_to_the_last_millisecond_of_its_half_minute() -> None:
    begin = HERE * STEP_MS
    for now, step in ((begin - 1, None), (begin, HERE), (begin + STEP_MS - 1, HERE), (begin + STEP_MS, None)):
        assert accepted_step(NEW, NEW.code(HERE), now=now, last=0) == step, now - begin


def test_no_code_is_used_twice_nor_one_before_it() -> None:
    code = NEW.code(HERE)
    assert accepted_step(NEW, code, now=NOON, last=HERE - 1) == HERE
    assert accepted_step(NEW, code, now=NOON, last=HERE) is None
    assert accepted_step(NEW, NEW.code(HERE - 1), now=NOON - STEP_MS, last=HERE) is None
    assert accepted_step(NEW, NEW.code(HERE + 1), now=NOON + STEP_MS, last=HERE) == HERE + 1


def test_codes_are_made_with_sha_256_and_with_sha_1_for_authenticators_that_know_no_other() -> None:
    assert NEW.code(step_of(59_000)) == RFC_6238_SHA256
    for secret in (OLD, NEW):
        assert OtpSecret.parse(secret.text) == secret
    assert confirmed(LONG, NEW.code(HERE), now=NOON) == NEW
    assert confirmed(RFC, OLD.code(HERE), now=NOON) == OLD
    assert confirmed(RFC, NEW.code(HERE), now=NOON) is None
    assert OtpSecret.parse(base32(RFC)) == OLD, "as it was stored before"


def test_the_first_half_minute_of_all_is_no_error() -> None:
    assert accepted_step(OLD, RFC_4226[1], now=30_000, last=0) == 1
    assert not is_beside(OLD, "000000", now=0)


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "\ud800", "-12345", "１２３４５６"]
)
def test_what_is_no_code_is_refused(code: str) -> None:
    assert accepted_step(OLD, code, now=NOON, last=0) is None


def test_blanks_do_not_matter() -> None:
    code = OLD.code(HERE)
    assert accepted_step(OLD, f" {code[:3]} {code[3:]} ", now=NOON, last=0) == HERE


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
        "algorithm": "SHA256",
    }
