"""Every item of OWASP ASVS 5.0.0, levels 1 and 2, has one answer, and its evidence exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.test_links import headings
from tests.docs.test_named_files import names_in
from tools import asvs
from tools.asvs import Answer, Chapter

ROOT = Path(__file__).parents[2]
LEVEL_1, LEVEL_2 = 70, 183
"""How many items of each level the standard has."""
CHAPTERS = asvs.chapters()
TESTS_OF_THE_PAGES = re.compile(r"""^\s*(?:test|it)(?:\.each\(.*\))?\(\s*["'`](.*?)["'`], """, re.MULTILINE)
"""The names of tests in TypeScript."""


@cache
def text_of(file: Path) -> str:
    return file.read_text("utf-8")


def unanswered(chapter: Chapter, listed: tuple[Answer, ...]) -> list[str]:
    """What is wrong with the answers to a chapter: one is missing or given twice, or its level is wrong."""
    ids = [one.id for one in listed]
    return [
        *(f"{item}: no answer" for item in chapter.levels if item not in ids),
        *(f"{item}: {ids.count(item)} answers" for item in sorted(set(ids)) if ids.count(item) > 1),
        *(
            f"{one.id}: expected level {chapter.levels.get(one.id)}, got {one.level}"
            for one in listed
            if chapter.levels.get(one.id) != one.level
        ),
    ]


def missing(evidence: str) -> bool:
    """Whether nothing in the repository is what the evidence names.

    `tests/….py::test_…`, `src/….py:name`, `frontend/….ts::name of a test`, `frontend/….ts:name`,
    `docs/….md#heading`, or a file without names in it, such as a list of cases.
    """
    path, _, name = evidence.partition("#" if "#" in evidence else ":")
    file, name = ROOT / path, name.removeprefix(":")
    if not file.is_file():
        return True
    match file.suffix:
        case ".py":
            return name not in names_in(file) or (path.startswith("tests/") and "::test_" not in evidence)
        case ".md":
            return bool(name) and name not in headings(text_of(file))
        case ".ts" if "::" in evidence:
            return name not in TESTS_OF_THE_PAGES.findall(text_of(file))
        case ".ts" | ".svelte":
            return not re.search(rf"\b(?:function|const|class|get|async) {re.escape(name)}\b", text_of(file))
        case _:
            return bool(name)


def test_the_list_has_as_many_items_as_the_standard() -> None:
    levels = [level for chapter in CHAPTERS for level in chapter.levels.values()]
    assert (levels.count(1), levels.count(2), len(levels)) == (LEVEL_1, LEVEL_2, LEVEL_1 + LEVEL_2)
    assert [chapter.number for chapter in CHAPTERS] == [*range(1, 18)]
    assert [
        item for chapter in CHAPTERS for item in chapter.levels if asvs.order(item)[0] != chapter.number
    ] == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: f"V{chapter.number}")
def test_every_item_has_one_answer_and_its_evidence_exists(chapter: Chapter) -> None:
    listed = asvs.answers(chapter.number)
    assert unanswered(chapter, listed) == []
    assert [f"{one.id}: {evidence}" for one in listed for evidence in one.evidence if missing(evidence)] == []
    assert [one.id for one in listed if len(one.subject) > 90 or "|" in one.subject + one.reason] == []


def test_no_file_of_answers_is_left_over() -> None:
    assert {file.name for file in asvs.ANSWERS.iterdir()} == {
        "items.toml",
        *(f"V{chapter.number:02}.toml" for chapter in CHAPTERS),
    }


def test_the_page_is_the_answers() -> None:
    assert asvs.PAGE.read_text("utf-8") == asvs.page(), "run python -m tools.asvs"


def test_sabotage_what_is_gone_or_answered_twice_is_noticed() -> None:
    chapter = Chapter(1, "One", {"1.1.1": 1, "1.1.2": 2, "1.1.3": 2})
    twice = Answer("1.1.1", 1, "a", asvs.PASS, ("LICENSE",))
    listed = (twice, twice, Answer("1.1.2", 1, "b", asvs.NOT_APPLICABLE, reason="No such thing."))
    assert [line.partition(":")[0] for line in unanswered(chapter, listed)] == ["1.1.3", "1.1.1", "1.1.2"]


@pytest.mark.parametrize(
    "evidence",
    [
        "tests/docs/none.py::test_gone",
        "tests/docs/test_asvs.py::test_gone",
        "tests/docs/test_asvs.py:missing",
        "tests/docs/test_asvs.py",
        "src/taisai/server/http/app.py:gone",
        "src/taisai/server/http/app.py",
        "frontend/tests/display.test.ts::gone",
        "docs/explanation/security.md#gone",
    ],
)
def test_sabotage_evidence_that_is_gone_is_noticed(evidence: str) -> None:
    assert missing(evidence)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ('answer = "partly"', "expected the answer 'pass' or 'not applicable', got 'partly'"),
        ('answer = "pass"\nevidence = []', "'pass' needs 'evidence'; add it"),
        ('answer = "not applicable"', "'not applicable' needs 'reason'; add it"),
        ('answer = "pass"\nevidence = ["LICENSE"]\nwhy = "?"', "expected id, level, subject, answer"),
    ],
)  # fmt: skip
def test_another_answer_is_refused(tmp_path: Path, fields: str, error: str) -> None:
    (tmp_path / "V03.toml").write_text(
        f'[[item]]\nid = "3.2.1"\nlevel = 1\nsubject = "a"\n{fields}\n', "utf-8"
    )
    with pytest.raises(asvs.AnswersError, match=re.escape(f"V03.toml: item 3.2.1: {error}")):
        asvs.answers(3, tmp_path)
