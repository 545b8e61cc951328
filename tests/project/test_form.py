"""The form of the code itself: sizes, names, words, and what must not be committed."""

from __future__ import annotations

import io
import re
import tokenize
import tomllib
from collections.abc import Iterator

import pytest

from tests.project.tree import ROOT, SRC, project_files

LONGEST_MODULE = 400
NAMELESS = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
WORDS_NOT_OURS = ("wager", "payout")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/[\w.]")
REGISTRY = re.compile(
    r"https?://[^\s\"'<>]*(?:pypi|pythonhosted|npmjs|artifact|registry|/simple\b)", re.IGNORECASE
)
PIN = re.compile(r"[a-z0-9-]+==[^\s;]+(?: ; [^-]+)?(?: --hash=sha256:[0-9a-f]{64})+")
EXTRAS = {
    "run": (),
    "study": ("study", "cluster", "gym"),
    "dev": ("study", "cluster", "gym", "parquet", "fast", "bulk"),
}
"""File of pins → the extras that it serves."""


def words_not_ours(code: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.NAME and any(word in token.string.lower() for word in WORDS_NOT_OURS):
            yield token.string


def addresses(text: str) -> Iterator[str]:
    for pattern in (MACHINE_PATH, REGISTRY):
        yield from (match.group() for match in pattern.finditer(text))


def pinned(which: str) -> list[str]:
    text = (ROOT / "requirements" / f"{which}.txt").read_text("utf-8")
    return text.replace(" \\\n   ", "").splitlines()


def test_no_module_is_too_long() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in SRC.rglob("*.py")}
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}
    assert lengths


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [path for path in project_files() if path.stem.lower() in NAMELESS] == []


def test_the_code_uses_the_words_of_the_game() -> None:
    found = {path: list(words_not_ours(path.read_text("utf-8"))) for path in SRC.rglob("*.py")}
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.parametrize("code", ["class Wager: ...", "total_payout = 1", "def pay(payouts): ..."])
def test_sabotage_a_word_not_ours_is_seen(code: str) -> None:
    assert list(words_not_ours(code))


def test_no_machine_path_or_registry_address_is_committed() -> None:
    texts = {path: path.read_text("utf-8", errors="ignore") for path in project_files()}
    found = {path: list(addresses(text)) for path, text in texts.items()}
    assert {path: hits for path, hits in found.items() if hits} == {}


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "home/ann/x",
        "(/" + "root/.cache)",
        "--index-url https:/" + "/pypi.org/simple",
        "http:/" + "/mirror/simple/x",
    ],
)
def test_sabotage_an_address_is_seen(text: str) -> None:
    assert list(addresses(text))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"])
def test_the_usual_documents_are_there(name: str) -> None:
    assert (ROOT / name).read_text("utf-8").strip()


def test_the_readme_shows_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "make demo" in readme
    assert "make test" in readme


@pytest.mark.parametrize("which", EXTRAS)
def test_every_dependency_is_pinned_with_hashes(which: str) -> None:
    assert [line for line in pinned(which) if not PIN.fullmatch(line)] == []
    pins = {line.partition("==")[0] for line in pinned(which)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"].get(which, [])]
    for extra in EXTRAS[which]:
        wanted += project["project"]["optional-dependencies"][extra]
    assert {re.split(r"[<>=~! ;\[]", name)[0] for name in wanted if isinstance(name, str)} <= pins


def test_what_is_pinned_to_run_is_pinned_the_same_to_develop() -> None:
    assert set(pinned("run")) < set(pinned("study")) < set(pinned("dev"))
