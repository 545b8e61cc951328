"""The inventory of cryptography names every module that uses any, and its figures are the program's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from taisai.journal.seals.encrypted_keys import DEFAULT_COST
from taisai.journal.seals.keys import KEY_BYTES
from taisai.journal.seals.secret import SECRET_BYTES
from taisai.server.auth.approvals import APPROVAL_ID
from taisai.server.auth.credentials import ACTIVATION_SYMBOLS, SALT, SECRET, Cost
from taisai.server.auth.passkeys import CHALLENGE
from taisai.server.auth.sessions import TOKEN
from taisai.server.handlers.transfers import NUMBER_BITS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "taisai"
PAGE = (ROOT / "docs" / "reference" / "cryptography.md").read_text("utf-8")
USES = {"argon2", "cryptography", "fido2", "hashlib", "hmac", "random", "secrets", "ssl", "uuid"}
"""Libraries of which a module that imports one stands in the inventory."""
WEAK = re.compile(r"\b(?:MD5|md5|SHA1|sha1|ECB|CBC|PKCS1v15|TripleDES|ARC4|Blowfish|getrandbits)\b")
NAMED = re.compile(r"`([\w/]+\.py)`")


def libraries(text: str) -> Iterator[str]:
    """What a module imports, at its top or later."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def users() -> set[str]:
    """The modules that use cryptography or chance."""
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    return {name for name, text in texts.items() if USES & {*libraries(text)}}


def test_every_module_that_uses_cryptography_is_in_the_inventory() -> None:
    named = set(NAMED.findall(PAGE))
    compared = {name for name in users() if "compare_digest" in (PACKAGE / name).read_text("utf-8")}
    assert users() - compared - named == set()
    assert named - users() == set(), "these use none any more"


def test_modules_that_only_compare_in_constant_time_are_few() -> None:
    only = {name for name in users() if name not in NAMED.findall(PAGE)}
    assert only == {"server/auth/enrolment.py", "server/http/guard.py"}


def test_weak_algorithms_are_in_the_code_of_authenticators_and_nowhere_else() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {match[0]}"
        for path in PACKAGE.rglob("*.py")
        for match in WEAK.finditer(path.read_text("utf-8"))
    }
    assert found == {"server/auth/credentials.py: SHA1"}


def test_chance_that_can_be_foreseen_makes_no_secret() -> None:
    users_of_random = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if "random" in libraries(path.read_text("utf-8"))
    }
    assert users_of_random == {"cli", "demo"}, "the virtual people of the demonstration alone"


def test_every_secret_has_128_bits_or_more() -> None:
    bits = {
        "keys": KEY_BYTES * 8,
        "storage secret": SECRET_BYTES * 8,
        "token": TOKEN * 8,
        "approval": APPROVAL_ID * 8,
        "challenge": CHALLENGE * 8,
        "activation": ACTIVATION_SYMBOLS * 5,
        "ticket": NUMBER_BITS,
        "authenticator": SECRET * 8,
        "salt": SALT * 8,
    }
    assert {name: count for name, count in bits.items() if count < 128} == {}
    for name in ("activation", "ticket", "authenticator"):
        assert f"{bits[name]} " in PAGE, name


def test_the_cost_of_passwords_and_passphrases_is_that_of_the_page() -> None:
    cost = Cost()
    assert (cost.time, cost.memory, cost.parallelism) == tuple(DEFAULT_COST)
    assert f"{cost.time} passes over {cost.memory // 1024} MiB, {cost.parallelism} lanes" in PAGE
