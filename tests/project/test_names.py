"""One name, one thing: public types and shared constants of the package; and the package's size."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.project.tree import ROOT, SRC

CLASS = "class"
# The size of the product with what defends it against the file, the insider and the stranger, and with a
# journal in PostgreSQL.
MOST_LINES = 68_500
MOST_MODULES = 365
MOST_README_WORDS = 900
MOST_BET_TYPES = 10
BET_TYPE = re.compile(r"\w*Bet|Bet(Record|Line|Entry|Row|View|Told)|\w+BetTold")
"""The name of a type for one bet, or for a bet and what became of it."""
COMMANDS_ON_BETS = {"MoveBet"}


@cache
def sources() -> dict[str, str]:
    """Module → its text."""
    return {
        path.relative_to(SRC.parent).with_suffix("").as_posix().replace("/", "."): path.read_text("utf-8")
        for path in sorted(SRC.rglob("*.py"))
    }


@cache
def trees() -> dict[str, ast.Module]:
    return {name.removesuffix(".__init__"): ast.parse(text) for name, text in sources().items()}


def definitions(modules: Mapping[str, ast.Module]) -> dict[str, list[tuple[str, str]]]:
    """Public name → modules and definitions: `class`, or the right side of an assignment.

    A second name for something (`Terms = SessionTerms`) and a type variable do not count.
    """
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append((module, CLASS))
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                value = ast.unparse(node.value)
                is_new = not (isinstance(node.value, ast.Name | ast.Attribute) or "TypeVar(" in value)
                if isinstance(target, ast.Name) and target.id[0].isupper() and is_new:
                    places[target.id].append((module, value))
    return {name: found for name, found in places.items() if not name.startswith("_")}


def imports(modules: Mapping[str, ast.Module]) -> set[tuple[str, str]]:
    """Module and name of everything that one module imports from another."""
    nodes = (node for tree in modules.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {(str(node.module), alias.name) for node in nodes for alias in node.names}


def clashes(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Types that share a name, and constants that other modules import by one name with several values.

    Limits (`MOST_…`) may share a name: each is read with its module.
    """
    imported = imports(modules)
    for name, places in definitions(modules).items():
        if name.isupper():
            values = {value for module, value in places if (module, name) in imported}
            is_clash = len(values) > 1 and not name.startswith("MOST_")
        else:
            kinds = [value for _, value in places]
            is_clash = kinds.count(CLASS) > 1 or len(set(kinds)) > 1
        if is_clash:
            yield f"{name}: {', '.join(module for module, _ in places)}"


def test_no_two_public_types_share_a_name() -> None:
    assert list(clashes(trees())) == []


USED = "from a import HOUSE\nfrom b import HOUSE"


@pytest.mark.parametrize(
    "modules",
    [
        {"a": "class Row: ...", "b": "class Row(NamedTuple): ..."},
        {"a": "class Row(Enum): ...", "b": "Row = tuple[int, ...]"},
        {"a": "Row = dict[str, int]", "b": "Row: TypeAlias = tuple[int, ...]"},
        {"a": "class Row(Protocol): ...", "b": "Row = NewType('Row', str)"},
        {"a": "HOUSE = 'house'", "b": "HOUSE: Final = 'The Lotus'", "c": USED},
    ],
)
def test_sabotage_a_name_of_two_things_is_found(modules: Mapping[str, str]) -> None:
    assert list(clashes({name: ast.parse(text) for name, text in modules.items()}))


def bet_types(modules: Mapping[str, ast.Module]) -> list[str]:
    """The types for one bet, or for a bet and what became of it."""
    classes = [name for name, places in definitions(modules).items() if CLASS in dict(places).values()]
    return sorted(name for name in classes if BET_TYPE.fullmatch(name) and name not in COMMANDS_ON_BETS)


def excesses(texts: Mapping[str, str], bets: list[str], readme: str) -> list[str]:
    """What is larger than it may be."""
    figures = {
        "modules": (len(texts), MOST_MODULES),
        "lines": (sum(text.count("\n") for text in texts.values()), MOST_LINES),
        "types for a bet": (len(bets), MOST_BET_TYPES),
        "words in the README": (len(readme.split()), MOST_README_WORDS),
    }
    return [f"{count} {what}, at most {most}" for what, (count, most) in figures.items() if count > most]


def test_the_package_and_its_readme_stay_small() -> None:
    assert excesses(sources(), bet_types(trees()), (ROOT / "README.md").read_text("utf-8")) == []


def test_sabotage_an_excess_is_found() -> None:
    texts = {f"module{number}": "\n" * 200 for number in range(MOST_MODULES + 1)}
    many = {"a": ast.parse("\n".join(f"class Kind{number}Bet: ..." for number in range(MOST_BET_TYPES + 1)))}
    assert len(excesses(texts, bet_types(many), "word " * (MOST_README_WORDS + 1))) == 4
