"""`taisai table play` and `taisai table pin`: playbooks played, checked and written."""

from __future__ import annotations

import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from taisai.cli import asked
from taisai.cli.printing import as_json, line
from taisai.game.playbook import Mismatch, PinnedPlaybook, Play, Playbook, PlaybookError, pinned, playbook
from taisai.rules import Rulebook, RulesError, rulebook
from taisai.rules.errors import printable

if TYPE_CHECKING:
    from rich.progress import Task

    from taisai.cli.table.recording import Repeated, SealedRecording

MOST_BYTES: Final = 1_000_000  # of one playbook; the longest has a hundredth of it
MOST_PACE: Final = 60  # seconds from one command to the next
MOST_TIMES: Final = 100_000  # a journal of some million entries
CHECK_FAILED: Final = 1


def play(arguments: Namespace) -> int:
    """Plays a playbook; 1 where a pinned line is not what the table answers."""
    pace = asked.whole(arguments.pace, "--pace in seconds", such_as="1")
    if not 0 <= pace <= MOST_PACE:
        raise RulesError(f"expected --pace from 0 to {MOST_PACE} seconds, got {pace}")
    times = _times(arguments)
    story = playbook(text_of(arguments.file), arguments.file)
    if arguments.journal is not None:
        return _recorded(arguments, story, pace, times)
    play = Play(story, book_of(story))
    if arguments.json:
        facts = _facts(play)
        as_json(facts)
        return CHECK_FAILED if facts["mismatches"] else 0
    return told(play, pace)


def _times(arguments: Namespace) -> int:
    """How often it is played; what concerns a journal alone is refused without one."""
    if arguments.journal is None:
        for option in ("repeat", "key", "passphrase_file"):
            if getattr(arguments, option) is not None:
                raise RulesError(f"--{option.replace('_', '-')} needs --journal")
    if arguments.repeat is None:
        return 1
    times = asked.whole(arguments.repeat, "--repeat", such_as="100")
    if not 1 <= times <= MOST_TIMES:
        raise RulesError(f"expected --repeat from 1 to {MOST_TIMES}, got {times}")
    return times


def text_of(file: str) -> str:
    """The text of a playbook, with or without a byte order mark."""
    try:
        with Path(file).open("rb") as opened:
            raw = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise RulesError(
            f"expected a playbook that can be read, got {printable(repr(file))}: {why}"
        ) from None
    if len(raw) > MOST_BYTES:
        raise RulesError(f"expected a playbook of at most {MOST_BYTES:,} bytes, got more in {file!r}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = raw[: error.start].count(b"\n") + 1
        raise PlaybookError(file, number, "expected UTF-8, got something else") from None


def book_of(story: Playbook) -> Rulebook:
    """The rulebook that a header names."""
    try:
        return rulebook(story.book)
    except RulesError as error:
        raise PlaybookError(story.name, story.line, str(error)) from None


# Once


def _facts(play: Play) -> dict[str, Any]:
    """A playing for machines."""
    from msgspec import to_builtins

    def plain(value: object) -> Any:
        if hasattr(value, "_asdict"):
            value = value._asdict()
        if isinstance(value, Mapping):
            return {str(name): plain(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        return to_builtins(value)

    story, steps, wrong = play.story, [], []
    for played in play.steps():
        wrong += [_mismatch(one) for one in played.mismatches]
        happened = [
            {"event": plain(one.event), "entries": plain(one.entries), "shares": plain(one.shares)}
            for one in played.happened
        ]
        steps.append(
            {
                "line": played.step.line,
                "command": plain(played.command),
                "refusal": plain(played.refusal),
                "happened": happened,
                "phase": str(play.table.phase),
                "facts": list(played.facts),
            }
        )
    return {
        "playbook": story.name,
        "rulebook": play.table.book.id,
        "story": " ".join(story.story),
        "opened": plain(play.opened),
        "steps": steps,
        "balances": {str(account): amount for account, amount in play.table.ledger.balances.items()},
        "mismatches": wrong,
    }


def _mismatch(one: Mismatch) -> dict[str, Any]:
    return {"line": one.line, "expected": one.expected, "got": one.got}


def told(play: Play, pace: int = 0) -> int:
    """Retells a playing for people; 1 where a pinned line is not what the table answers."""
    from taisai.cli.telling import PlayNarrator

    retelling = PlayNarrator(play)
    retelling.heading()
    wrong: list[Mismatch] = []
    for number, played in enumerate(play.steps()):
        if pace and number:
            sys.stdout.flush()
            time.sleep(pace)
        retelling.step(played)
        wrong += played.mismatches
    retelling.ending()
    return _verdict(play.story, wrong)


def _verdict(story: Playbook, found: list[Mismatch]) -> int:
    """What all pinned lines come to; a terminal has shown each mismatch where it happened."""
    wrong = [one for one in found if one.expected is not None]
    unpinned = len(found) - len(wrong)
    if not found:
        line(f"{counted(sum(step.pinned for step in story.steps))}, all as written")
        return 0
    if sys.stdout.isatty():
        last = [f"{story.name}: {_lines_are(len(wrong))} not as pinned"] if wrong else []
    else:
        last = [f"{story.name}:{one.line}: {one}" for one in wrong]
    if unpinned:
        last.append(f"{_lines_are(unpinned)} not pinned: `taisai table pin {story.name}` writes them")
    for text in last:
        _warn(text)
    return CHECK_FAILED


def _warn(text: str) -> None:
    sys.stderr.write(f"taisai: {printable(text, 1_000)}\n")


def counted(count: int) -> str:
    """Such as '47 pinned lines'."""
    return f"{count:,} pinned line{'' if count == 1 else 's'}"


def _lines_are(count: int) -> str:
    """Such as '47 lines are'."""
    return f"{count} line is" if count == 1 else f"{count} lines are"


# Into a journal


def _recorded(arguments: Namespace, story: Playbook, pace: int, times: int) -> int:
    from taisai.cli.table.recording import recording

    file, repeated = arguments.journal, None
    key, secret = arguments.key or f"{file}.key", arguments.passphrase_file
    with recording(story, book_of(story), file, key_file=key, passphrase_file=secret, times=times) as record:
        play = record.play()
        facts = _facts(play) if arguments.json else None
        code = told(play, pace) if facts is None else 0
        if times > 1:
            began = time.perf_counter()
            with _progress(times - 1, shown=sys.stderr.isatty()) as done:
                repeated = record.repeat(times - 1, done)
            if facts is None:
                _tell_repeated(story, repeated, time.perf_counter() - began)
        sealed = record.seal()
    wrong = repeated.wrong if repeated else 0
    if facts is None:
        _tell_sealed(file, key, sealed)
        return CHECK_FAILED if wrong else code
    as_json(facts | _recorded_facts(file, key, repeated, sealed))
    return CHECK_FAILED if wrong or facts["mismatches"] else 0


@contextmanager
def _progress(times: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """Something to call after each repetition; on a terminal it shows how far it is and how fast."""
    if not shown:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.finished_speed or task.speed or 0:,.0f} a second")

    columns = (MofNCompleteColumn(), BarColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=times)
        yield lambda: progress.advance(task)


def _tell_repeated(story: Playbook, repeated: Repeated, seconds: float) -> None:
    first, last = repeated.tables
    where = f"at table {first}" if first == last else f"at tables {first} to {last}"
    rate = f"{repeated.entries:,} entries in {seconds:.1f} s, {repeated.entries / seconds:,.0f} a second"
    came_to = f"{repeated.wrong:,} not as written" if repeated.wrong else "all as written"
    line(f"Repeated {repeated.times:,} times {where}: {rate}; {counted(repeated.pinned)}, {came_to}")
    if repeated.wrong:
        table, first_one = repeated.mismatches[0]
        _warn(f"{story.name}:{first_one.line}: at {table}, {first_one}")


def _tell_sealed(file: str, key: str, sealed: SealedRecording) -> None:
    from taisai.cli.audit.reading import moment

    line(
        f"Journal {printable(file)}: {sealed.entries:,} entries written, "
        f"sealed over {sealed.size:,} at {moment(sealed.at)} with {printable(key)}"
    )
    line(f"Verify it with `taisai audit verify {printable(shlex.quote(file))}`")


def _recorded_facts(
    file: str, key: str, repeated: Repeated | None, sealed: SealedRecording
) -> dict[str, Any]:
    facts: dict[str, Any] = {"journal": {"file": file, "key": key, **sealed._asdict()}}
    if repeated is not None:
        wrong = [{"table": table, **_mismatch(one)} for table, one in repeated.mismatches]
        facts["repeated"] = repeated._asdict() | {"mismatches": wrong}
    return facts


def pin(arguments: Namespace) -> int:
    """Pins the playbooks named, and says what was written."""
    for file, made in _pin_all(arguments.files).items():
        if not made.written and not made.struck:
            line(f"{printable(file)}: {counted(made.lines)}, all as written")
            continue
        struck = f", {made.struck} struck out" if made.struck else ""
        line(f"{printable(file)}: {made.written} of {counted(made.lines)} written{struck}")
        for number, refusal in made.refusals:
            line(f"  {printable(file)}:{number}: refused, {printable(str(refusal), 1_000)}")
    return 0


def _pin_all(files: Iterable[str]) -> dict[str, PinnedPlaybook]:
    """File → what it pins now; an error in one leaves all as they were, for all are played first."""
    found: dict[str, PinnedPlaybook] = {}
    for file in files:
        text = text_of(file)
        found[file] = pinned(text, book_of(playbook(text, file)), file)
    for file, made in found.items():
        _write(file, made.text)
    return found


def _write(file: str, text: str) -> None:
    fresh, path = text.encode(), Path(file)
    try:
        if path.read_bytes() != fresh:
            path.write_bytes(fresh)
    except OSError as error:
        raise RulesError(
            f"expected a playbook that can be written, got {printable(repr(file))}: {error.strerror}"
        ) from None
