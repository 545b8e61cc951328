"""Writes docs/reference/asvs.md: every item of OWASP ASVS 5.0.0, levels 1 and 2, with its answer.

The items are `docs/reference/asvs/items.toml`. The answers of a chapter are the file of its number beside it,
such as `V06.toml`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGE: Final = DOCS / "reference" / "asvs.md"
ANSWERS: Final = DOCS / "reference" / "asvs"
PASS: Final = "pass"  # noqa: S105  an answer, no password
NOT_APPLICABLE: Final = "not applicable"
_NEEDS: Final = {PASS: "evidence", NOT_APPLICABLE: "reason"}
"""Answer → the key that it must have. Both may have both."""
HEAD: Final = """\
# OWASP ASVS 5.0.0, level 2

The Application Security Verification Standard of OWASP lists what a web application must fulfil. This page
answers every item of levels 1 and 2 for `taisai serve`, with its pages and the programs it works with, as
this repository makes them and [operate a house](../how-to/operate.md) puts them into operation. Numbers and
levels are those of the standard. The subjects are in our own words, so read the standard beside this page.

An answer is **pass**, with evidence that you can open: a test, a function or a page of this documentation. Or
it is **not applicable**, with the reason: the item is about something that Taisai does not have. There is no
third answer. The page is generated from the files in `docs/reference/asvs/`. A test checks that every item
has one answer and that all evidence exists.
"""


class AnswersError(Exception):
    """The answers are not what they must be: where, what is wrong, what is expected."""


class Chapter(NamedTuple):
    """A chapter of the standard."""

    number: int
    title: str
    levels: dict[str, int]
    """Item → its level, in the order of the standard."""


class Answer(NamedTuple):
    """What Taisai answers to an item."""

    id: str
    level: int
    subject: str
    answer: str
    evidence: tuple[str, ...] = ()
    reason: str = ""


def order(item: str) -> tuple[int, ...]:
    """The place of an item in the standard."""
    return tuple(int(part) for part in item.split("."))


def chapters(folder: Path = ANSWERS) -> tuple[Chapter, ...]:
    """The chapters with all items of levels 1 and 2."""
    listed = tomllib.loads((folder / "items.toml").read_text("utf-8"))["chapter"]
    return tuple(
        Chapter(
            entry["number"], entry["title"], dict(sorted(_levels(entry), key=lambda item: order(item[0])))
        )
        for entry in listed
    )


def _levels(entry: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for level in (1, 2):
        yield from ((item, level) for item in entry[f"level-{level}"])


def answers(number: int, folder: Path = ANSWERS) -> tuple[Answer, ...]:
    """The answers to a chapter; none if its file is missing."""
    file = folder / f"V{number:02}.toml"
    if not file.is_file():
        return ()
    listed = tomllib.loads(file.read_text("utf-8")).get("item", [])
    return tuple(_answer(entry, file.name) for entry in listed)


def _answer(entry: dict[str, Any], file: str) -> Answer:
    where = f"{file}: item {entry.get('id', '?')}"
    needs = _NEEDS.get(entry.get("answer", ""))
    if needs is None:
        expected = " or ".join(repr(answer) for answer in _NEEDS)
        raise AnswersError(f"{where}: expected the answer {expected}, got {entry.get('answer')!r}")
    if not entry.get(needs):
        raise AnswersError(f"{where}: {entry['answer']!r} needs {needs!r}; add it")
    if unknown := entry.keys() - set(Answer._fields):
        raise AnswersError(f"{where}: expected {', '.join(Answer._fields)}, got {', '.join(sorted(unknown))}")
    return Answer(**entry | {"evidence": tuple(entry.get("evidence", ()))})


def page() -> str:
    """The page as it should be."""
    answered = {chapter.number: answers(chapter.number) for chapter in chapters()}
    return "".join((HEAD, *_counts(answered), *_chapters(answered)))


def _counts(answered: dict[int, tuple[Answer, ...]]) -> Iterator[str]:
    yield f"\n| chapter | items | {PASS} | {NOT_APPLICABLE} |\n|---|--:|--:|--:|\n"
    for chapter in chapters():
        title = f"V{chapter.number} {chapter.title}"
        link = f"[{title}](#{title.lower().replace(' ', '-')})"
        yield _count(link, answered[chapter.number])
    yield _count("all", [one for listed in answered.values() for one in listed])


def _count(title: str, listed: Sequence[Answer]) -> str:
    counts = Counter(one.answer for one in listed)
    return f"| {title} | {len(listed)} | {counts[PASS]} | {counts[NOT_APPLICABLE]} |\n"


def _chapters(answered: dict[int, tuple[Answer, ...]]) -> Iterator[str]:
    for chapter in chapters():
        yield f"\n## V{chapter.number} {chapter.title}\n\n"
        yield "| item | level | subject | answer |\n|---|:-:|---|---|\n"
        for one in sorted(answered[chapter.number], key=lambda one: order(one.id)):
            parts = [f"**{one.answer}**{': ' if one.reason else ''}{one.reason}", *map(_shown, one.evidence)]
            yield f"| {one.id} | {one.level} | {one.subject} | {'<br>'.join(parts)} |\n"


def _shown(evidence: str) -> str:
    """A page of the documentation as a link, anything else as code."""
    path, _, heading = evidence.partition("#")
    if not path.endswith(".md"):
        return f"`{evidence}`"
    target = path.removeprefix("docs/reference/") if path.startswith("docs/reference/") else ""
    target = target or (f"../{path.removeprefix('docs/')}" if path.startswith("docs/") else f"../../{path}")
    name = heading.replace("-", " ") or Path(path).stem.replace("-", " ")
    return f"[{name}]({target}{'#' + heading if heading else ''})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
