"""A House with people who can sign in, a queue without a thread, and a clock that stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final, TypeVar

from taisai.cage import FLOOR_LADDER, FLOOR_SECOND
from taisai.cage.messages import EnrolPerson, HouseCommand, OpenHouse
from taisai.game.refusals import Refusal
from taisai.journal import Answer, Engine, Journal, MemoryStore, SigningKey, UnwritableError
from taisai.journal.codec import HOUSE_STREAM, AnyCommand, AnyEvent
from taisai.journal.stores.contract import Head, Row
from taisai.server.auth.authentication import Authentication
from taisai.server.auth.credentials import Cost, Passwords, step_of
from taisai.server.auth.permissions import RateLimit, RateLimiter
from taisai.server.auth.sessions import NewSession, Session, StaffSessions
from taisai.server.auth.sign_in_refusals import SignInRefused
from tests.server.enrolling import EARLIER, activated, code_at, issued, with_credentials

NOON: Final = 1_794_715_200_000
TINY: Final = Cost(time=1, memory=8, parallelism=1)
OLGA, MAX, SUE, DAN, CAT, PAM = "Olga Berg", "Max Ong", "Sue Lim", "Dan Teo", "Cat Wong", "Pam Goh"
ROLL: Final = {
    MAX: "shift-manager", SUE: "pit-supervisor", DAN: "dealer", CAT: "cashier", PAM: "pit-manager",
}  # fmt: skip
PASSWORDS: Final = {person: f"{number} blue kettles sing" for number, person in enumerate(ROLL, 71)}
DESK: Final = "192.0.2.7"
STEP_MS: Final = 30_000
T = TypeVar("T")


def counted() -> Callable[[int], bytes]:
    """Bytes that look random and are the same in every run."""
    drawn = 0

    def entropy(size: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return b"".join(sha256(b"%d/%d" % (drawn, part)).digest() for part in range(size // 32 + 1))[:size]

    return entropy


class FlakyStore(MemoryStore):
    """A store that can be written, until it cannot."""

    def __init__(self) -> None:
        super().__init__()
        self.full = False

    def append(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """Fails while the disk is full."""
        self._check()
        super().append(rows, head)

    def keep_secret(self, name: str, body: bytes | None) -> None:
        """Likewise."""
        self._check()
        super().keep_secret(name, body)

    def _check(self) -> None:
        if self.full:
            raise UnwritableError("disk full")


class ThreadlessQueue:
    """Asks the engine in its own time; others get their turn before each answer, as with a real one."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.asked: list[AnyCommand] = []
        self.looks = 0
        self.listeners: list[Callable[[Sequence[AnyEvent]], None]] = []
        self.between: Callable[[AnyCommand], Awaitable[None]] | None = None
        """Something that happens just before a command is decided."""

    async def execute(self, stream: str, command: AnyCommand) -> Answer:
        """What a command comes to; published before it is answered."""
        await asyncio.sleep(0)
        if self.between:
            between, self.between = self.between, None
            await between(command)
        self.asked.append(command)
        answer = self.engine.answer(stream, command)
        if not isinstance(answer, Refusal):
            for listener in self.listeners:
                listener(answer)
        return answer

    async def run(self, job: Callable[[Engine], T]) -> T:
        """What a job finds."""
        await asyncio.sleep(0)
        self.looks += 1
        return job(self.engine)


class Inline(Executor):
    """Does the work at once, in the caller's thread."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Does it."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  it is told to whoever waits
            future.set_exception(error)
        return future


class Staffed:
    """The House, its door, and what each person carries about him."""

    def __init__(
        self,
        *,
        rule: RateLimit | None = None,
        executor: Executor | None = None,
        generic: bool = False,
        passwords: Passwords | None = None,
    ) -> None:
        self.now = NOON
        self.entropy = counted()
        self.store = FlakyStore()
        self.key = SigningKey.new("access", seed=bytes(32))
        journal = Journal.opened(
            self.store,
            journal="access",
            key=self.key.public,
            at=NOON,
            by=OLGA,
            program="test",
            demonstration=True,
        )
        self.queue = ThreadlessQueue(Engine(journal))
        self.passwords = passwords or Passwords(self.entropy, TINY)
        self.rule = rule or RateLimit(burst=1_000, every=1)
        self.executor, self.generic = executor or Inline(), generic
        self.door = self.new_door()
        self.ended: list[tuple[str, str]] = []
        self.secrets: dict[str, bytes] = {}
        self.spent: dict[str, int] = {}
        self.do(OpenHouse(
            at=NOON, by=OLGA, house="Lotus", currency="SGD", ladder=FLOOR_LADDER, second_rank=FLOOR_SECOND
        ))  # fmt: skip
        for person, rank in ROLL.items():
            second = MAX if person == PAM else None
            self.do(EnrolPerson(at=NOON, by=OLGA, person=person, rank=rank, second=second))
        before = NOON - EARLIER
        codes = {person: running(issued(self.door, person, by=OLGA, now=before)) for person in ROLL}
        for person, code in codes.items():
            setting = activated(self.door, person, code, PASSWORDS[person], now=before)
            self.secrets[person] = running(setting)[1]

    def new_door(self) -> Authentication:
        """A door as after a start."""
        sessions = StaffSessions(self.entropy)
        door = Authentication(
            self.queue,
            entropy=self.entropy,
            issuer="Lotus",
            passwords=self.passwords,
            sessions=sessions,
            rates=RateLimiter(self.rule),
            executor=self.executor,
            generic=self.generic,
        )
        assert door.sessions is sessions
        sessions.on_end(lambda session, why: self.ended.append((session.id, why)))
        self.queue.listeners = [door.heard]
        return door

    def do(self, command: HouseCommand) -> tuple[AnyEvent, ...]:
        """A command that must not be refused."""
        answer = asyncio.run(self.queue.execute(HOUSE_STREAM, command))
        assert not isinstance(answer, Refusal), answer
        return answer

    def reset(self, person: str, password: str | None = None, *, by: str = MAX, second: str = SUE) -> None:
        """New credentials, of which the person's authenticator keeps the secret."""
        password = password or PASSWORDS[person]
        setting = with_credentials(self.door, person, password, by=by, second=second, now=self.now)
        self.secrets[person] = running(setting)
        self.spent.pop(person, None)

    def code(self, person: str) -> str:
        """The code that the person's authenticator shows; time goes on where the last one was used."""
        if self.spent.get(person) == step_of(self.now):
            self.now += STEP_MS
        self.spent[person] = step_of(self.now)
        return code_at(self.secrets[person], step_of(self.now))

    def wrong_code(self, person: str) -> str:
        """A code of none of the half minutes about now."""
        near = {code_at(self.secrets[person], step_of(self.now) + beside) for beside in (-1, 0, 1)}
        return next(code for code in ("000000", "111111", "222222", "333333") if code not in near)

    def tries(
        self, person: str, password: str | None = None, code: str | None = None, address: str = DESK
    ) -> NewSession | SignInRefused:
        """Someone tries to sign in, rightly unless it is said otherwise."""
        code = self.code(person) if code is None else code
        password = PASSWORDS[person] if password is None else password
        return asyncio.run(self.door.sign_in(person, password, code, address=address, now=self.now))

    def signs_in(self, person: str) -> NewSession:
        """Someone signs in, and it must do."""
        came = self.tries(person)
        assert isinstance(came, NewSession), came
        return came

    def fails(self, person: str, times: int = 1) -> list[SignInRefused]:
        """Someone with the right password fails by the code, as often as is said, and it must fail."""
        refused = []
        for _ in range(times):
            came = self.tries(person, code=self.wrong_code(person))
            assert isinstance(came, SignInRefused), came
            refused.append(came)
        return refused

    def session(self, came: NewSession) -> Session | None:
        """Someone's session, if it is still open."""
        found = self.door.sessions.of(came.token, self.now)
        return found if isinstance(found, Session) else None

    def ticks(self, later: int = 0) -> None:
        """The server looks after its sessions."""
        self.now += later
        asyncio.run(self.door.tick(self.now))

    def told(self, kind: type[T]) -> list[T]:
        """The journal's events of a kind."""
        return [one.event for one in self.queue.engine.journal.entries() if isinstance(one.event, kind)]

    def kept(self) -> bytes:
        """Every byte of the journal, checkpoints and snapshots included, the vault alone left out."""
        self.queue.engine.snapshot(HOUSE_STREAM)
        kept = {name: value for name, value in vars(self.store).items() if name != "_vault"}
        return repr(kept).encode()

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Nothing can be written for a while."""
        self.store.full = True
        yield
        self.store.full = False


def running(work: Coroutine[Any, Any, T]) -> T:
    """What a piece of work comes to."""
    return asyncio.run(work)
