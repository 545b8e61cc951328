"""`taisai table play` and `table pin`: plays playbooks, checks and writes their pinned lines."""

from __future__ import annotations

import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from taisai.cli import CHECK_FAILED, values
from taisai.cli.files import read_file, reason_of
from taisai.cli.printing import as_json, line, progress_bar
from taisai.game.playbook import Mismatch, PinnedPlaybook, Play, Playbook, PlaybookError, pinned, playbook
from taisai.rules import Rulebook, RulesError, rulebook
from taisai.rules.errors import printable

if TYPE_CHECKING:
    from taisai.cli.table.recording import Repeated, SealedRecording

MOST_BYTES: Final = 1_000_000  # of one playbook; the longest has a hundredth of this
MOST_PACE: Final = 60  # seconds between two commands
MOST_TIMES: Final = 100_000  # a journal of some million entries


def play(arguments: Namespace) -> int:
    """Plays a playbook; exit code 1 if a pinned line differs from the table's answer."""
    pace = values.count(arguments.pace, "--pace", MOST_PACE, least=0)
    times = _times(arguments)
    story = playbook(text_of(arguments.file), arguments.file)
    if arguments.journal is not None:
        return _recorded(arguments, story, pace, times)
    play = Play(story, book_of(story))
    if arguments.json:
        facts = _facts(play)
        as_json(facts)
        return CHECK_FAILED if facts["mismatches"] else 0
    return retell(play, pace)


def _times(arguments: Namespace) -> int:
    """The number of --repeat; options that need a journal are errors without one."""
    if arguments.journal is None:
        for option in ("repeat", "key", "passphrase_file"):
            if getattr(arguments, option) is not None:
                raise RulesError(f"--{option.replace('_', '-')} needs --journal")
    return 1 if arguments.repeat is None else values.count(arguments.repeat, "--repeat", MOST_TIMES)


def text_of(file: str) -> str:
    """The text of a playbook, with or without a byte order mark."""
    raw = read_file(file, "playbook", MOST_BYTES)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = raw[: error.start].count(b"\n") + 1
        raise PlaybookError(file, number, "the playbook is not UTF-8") from None


def book_of(story: Playbook) -> Rulebook:
    """The rulebook that the header of a playbook names."""
    try:
        return rulebook(story.book)
    except RulesError as error:
        raise PlaybookError(story.name, story.line, str(error)) from None


# Once


def _facts(play: Play) -> dict[str, Any]:
    from msgspec import to_builtins

    def plain(value: object) -> Any:
        if hasattr(value, "_asdict"):
            value = value._asdict()
        if isinstance(value, Mapping):
            return {str(name): plain(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        return to_builtins(value)

    story, steps, mismatches = play.story, [], []
    for played in play.steps():
        mismatches += [_mismatch_facts(mismatch) for mismatch in played.mismatches]
        happened = [
            {"event": plain(booked.event), "entries": plain(booked.entries), "shares": plain(booked.shares)}
            for booked in played.happened
        ]
        steps.append({
            "line": played.step.line, "command": plain(played.command), "refusal": plain(played.refusal),
            "happened": happened, "phase": str(play.table.phase), "facts": list(played.facts),
        })  # fmt: skip
    balances = {str(account): amount for account, amount in play.table.ledger.balances.items()}
    return {
        "playbook": story.name, "rulebook": play.table.book.id, "story": " ".join(story.story),
        "opened": plain(play.opened), "steps": steps, "balances": balances, "mismatches": mismatches,
    }  # fmt: skip


def _mismatch_facts(mismatch: Mismatch) -> dict[str, Any]:
    return {"line": mismatch.line, "expected": mismatch.expected, "got": mismatch.got}


def retell(play: Play, pace: int = 0) -> int:
    """Prints a play; exit code 1 if a pinned line differs from the table's answer."""
    from taisai.cli.table.narrator import PlayNarrator

    narrator = PlayNarrator(play)
    narrator.heading()
    mismatches: list[Mismatch] = []
    for number, played in enumerate(play.steps()):
        if pace and number:
            sys.stdout.flush()
            time.sleep(pace)
        narrator.step(played)
        mismatches += played.mismatches
    narrator.ending()
    return _verdict(play.story, mismatches)


def _verdict(story: Playbook, mismatches: list[Mismatch]) -> int:
    """Prints the result of all pinned lines; a terminal has shown each mismatch at its step."""
    wrong = [mismatch for mismatch in mismatches if mismatch.expected is not None]
    unpinned = len(mismatches) - len(wrong)
    if not mismatches:
        line(f"{counted(sum(step.pinned for step in story.steps))}, all as written")
        return 0
    if sys.stdout.isatty():
        last = [f"{story.name}: {_lines_are(len(wrong))} not as pinned"] if wrong else []
    else:
        last = [f"{story.name}:{mismatch.line}: {mismatch}" for mismatch in wrong]
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
        code = retell(play, pace) if facts is None else 0
        if times > 1:
            began = time.perf_counter()
            with progress_bar("plays", times - 1) as advance:
                repeated = record.repeat(times - 1, lambda: advance(1))
            if facts is None:
                _tell_repeated(story, repeated, time.perf_counter() - began)
        sealed = record.seal()
    wrong = repeated.wrong if repeated else 0
    if facts is None:
        _tell_sealed(file, key, sealed)
        return CHECK_FAILED if wrong else code
    as_json(facts | _recorded_facts(file, key, repeated, sealed))
    return CHECK_FAILED if wrong or facts["mismatches"] else 0


def _tell_repeated(story: Playbook, repeated: Repeated, seconds: float) -> None:
    first, last = repeated.tables
    where = f"at table {first}" if first == last else f"at tables {first} to {last}"
    rate = f"{repeated.entries:,} entries in {seconds:.1f} s, {repeated.entries / seconds:,.0f} a second"
    result = f"{repeated.wrong:,} not as written" if repeated.wrong else "all as written"
    line(f"Repeated {repeated.times:,} times {where}: {rate}; {counted(repeated.pinned)}, {result}")
    if repeated.wrong:
        table, mismatch = repeated.mismatches[0]
        _warn(f"{story.name}:{mismatch.line}: at {table}, {mismatch}")


def _tell_sealed(file: str, key: str, sealed: SealedRecording) -> None:
    from taisai.cli.audit.reading import moment

    seal = f"sealed over {sealed.size:,} at {moment(sealed.at)} with {printable(key)}"
    line(f"Journal {printable(file)}: {sealed.entries:,} entries written, {seal}")
    line(f"Verify it with `taisai audit verify {printable(shlex.quote(file))}`")


def _recorded_facts(
    file: str, key: str, repeated: Repeated | None, sealed: SealedRecording
) -> dict[str, Any]:
    facts: dict[str, Any] = {"journal": {"file": file, "key": key, **sealed._asdict()}}
    if repeated is not None:
        wrong = [{"table": table, **_mismatch_facts(mismatch)} for table, mismatch in repeated.mismatches]
        facts["repeated"] = repeated._asdict() | {"mismatches": wrong}
    return facts


def pin(arguments: Namespace) -> int:
    for file, result in _pin_all(arguments.files).items():
        if not result.written and not result.struck:
            line(f"{printable(file)}: {counted(result.lines)}, all as written")
            continue
        struck = f", {result.struck} removed" if result.struck else ""
        line(f"{printable(file)}: {result.written} of {counted(result.lines)} written{struck}")
        for number, refusal in result.refusals:
            line(f"  {printable(file)}:{number}: refused, {printable(str(refusal), 1_000)}")
    return 0


def _pin_all(files: Iterable[str]) -> dict[str, PinnedPlaybook]:
    """File → its new pins. All are played before any is written, so an error changes no file."""
    results: dict[str, PinnedPlaybook] = {}
    for file in files:
        text = text_of(file)
        results[file] = pinned(text, book_of(playbook(text, file)), file)
    for file, result in results.items():
        _write(file, result.text)
    return results


def _write(file: str, text: str) -> None:
    content, path = text.encode(), Path(file)
    try:
        if path.read_bytes() != content:
            path.write_bytes(content)
    except OSError as error:
        raise RulesError(f"cannot write the playbook {printable(repr(file))}: {reason_of(error)}") from None
