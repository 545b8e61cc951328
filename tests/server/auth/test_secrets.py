"""Nothing secret stands in the journal, in logs, in errors, or in what an object says of itself."""

from __future__ import annotations

import io
import traceback
from base64 import b32encode
from collections.abc import Iterator

import pytest
from rich.console import Console
from structlog.testing import capture_logs

from taisai.protocol.views import Words
from taisai.server.auth import credentials
from taisai.server.auth.approvals import Approval, Approved, RequestToApprove, digest_of
from taisai.server.auth.authentication import PROVED_FOR
from taisai.server.auth.credentials import Credentials, Passwords
from taisai.server.auth.enrolment import NewActivation, NewSetup
from taisai.server.auth.permissions import SECOND_PERSONS
from tests.server.auth.staffed_house import DAN, DESK, MAX, PASSWORDS, SUE, Staffed, running

TYPED_WRONG = "almost the right one 7"
TYPED_AS_NAME = "my secret was typed up here"


class Evening:
    """Everything that the door does, with every secret of it and every word that was said."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        with capture_logs() as logs:
            self.staffed = staffed = Staffed()
            dealer, asker = staffed.signs_in(DAN), staffed.signs_in(SUE)
            refused = [
                staffed.tries(DAN, TYPED_WRONG),
                staffed.tries(TYPED_AS_NAME, PASSWORDS[DAN], staffed.code(DAN)),
                staffed.tries(MAX, code=staffed.wrong_code(MAX)),
            ]
            second = staffed.signs_in(MAX)
            staffed.now += PROVED_FOR
            request = RequestToApprove(digest_of(b"{}"), SECOND_PERSONS, Words("Nothing", "无"))
            asked = staffed.door.approvals.asked(request, asker=asker.session, now=staffed.now)
            assert isinstance(asked, Approval)
            approving = staffed.door.approve(
                asked.id, session=second.session, code=staffed.code(MAX), address=DESK, now=staffed.now
            )
            granted = running(approving)
            assert isinstance(granted, Approved), granted
            assert granted.token is not None
            issued = running(staffed.door.enrolment.issue(DAN, by=MAX, second=SUE, now=staffed.now))
            assert isinstance(issued, NewActivation)
            setup = running(staffed.door.begin_setup(DAN, issued.code, address=DESK, now=staffed.now))
            assert isinstance(setup, NewSetup)
            staffed.ticks(3_600_000)
        kept = credentials.kept(staffed.queue.engine, SUE)
        said = [
            dealer,
            asker,
            granted,
            issued,
            setup,
            kept,
            staffed.door.enrolment,
            *refused,
            staffed.door,
            staffed.passwords,
        ]
        self.shown = [repr(one) for one in (*said, *logs)]
        self.shown += [str(one) for one in refused] + [on_a_terminal(kept)]
        self.tokens = [
            dealer.token,
            asker.token,
            second.token,
            granted.token,
            issued.code,
            setup.token,
            setup.uri,
        ]

    def secrets(self) -> Iterator[str]:
        """What nobody may read."""
        yield from PASSWORDS.values()
        yield from (TYPED_WRONG, TYPED_AS_NAME)
        yield from self.tokens
        for secret in self.staffed.secrets.values():
            yield b32encode(secret).decode()
            yield secret.hex()
        for name in self.staffed.store.secrets("staff/"):
            body = self.staffed.store.secret(name)
            assert body is not None
            yield credentials.stored(self.staffed.store, name.removeprefix("staff/")).hash  # type: ignore[union-attr]


def on_a_terminal(shown: object) -> str:
    """As rich prints it."""
    console = Console(file=io.StringIO(), width=500)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def found(evening: Evening, text: str) -> list[str]:
    """The secrets that stand in a text."""
    return [secret for secret in evening.secrets() if secret in text]


def test_nothing_secret_is_in_the_journal() -> None:
    evening = Evening()
    kept = evening.staffed.kept().decode()
    assert found(evening, kept) == []
    assert "sign-in-failed" in kept
    assert "signed-in" in kept


def test_nothing_secret_is_logged_or_shown() -> None:
    evening = Evening()
    assert found(evening, "\n".join(evening.shown)) == []
    assert any("sign-in failed" in shown for shown in evening.shown), "there are logs to look through"


def test_the_vault_has_neither_passwords_nor_tokens() -> None:
    evening = Evening()
    store = evening.staffed.store
    vault = b"\n".join(store.secret(name) or b"" for name in store.secrets("")).decode(errors="replace")
    for secret in (*PASSWORDS.values(), TYPED_WRONG, TYPED_AS_NAME, *evening.tokens):
        assert secret not in vault
    assert "$argon2id$" in vault


def test_authentication_remembers_no_password_and_no_token() -> None:
    evening = Evening()
    door = evening.staffed.door
    remembered = repr(
        [vars(part) for part in (door, door.sessions, door.approvals, door._verifier, door.enrolment)]
    )
    assert found(evening, remembered) == []


@pytest.mark.parametrize("method", ["verified", "is_outdated", "hashed"])
def test_an_error_does_not_quote_the_password(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    staffed = Staffed()

    def failing(*_arguments: object) -> None:
        raise RuntimeError("the hash could not be made")

    monkeypatch.setattr(Passwords, method, failing)
    if method == "hashed":
        monkeypatch.setattr(Passwords, "is_outdated", lambda *_arguments: True)
    with pytest.raises(RuntimeError) as error:
        staffed.tries(DAN)
    assert PASSWORDS[DAN] not in "".join(traceback.format_exception(error.value))


def test_credentials_are_kept_and_read_again_whole() -> None:
    staffed = Staffed()
    kept = Credentials("a hash", "A SECRET", 12)
    credentials.keep(staffed.store, "Ann", kept)
    assert credentials.stored(staffed.store, "Ann") == kept
    assert "Ann" in credentials.holders(staffed.store)
    credentials.keep(staffed.store, "Ann", None)
    assert credentials.stored(staffed.store, "Ann") is None
    assert repr(kept) == str(kept) == "<Credentials>"
