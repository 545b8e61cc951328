"""Editions of a rulebook: named, compared, and covered by their changelogs; settings within their clauses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taisai.rules import HOUSE_PROCEDURES, BookError, RulesError, rulebook, rulebook_ids
from taisai.rules.book import Rulebook, earlier_editions, editions
from taisai.rules.editions import differences, unnamed_clauses
from tests.rules.books import IDS, data_of, edited, loaded, text_of

each_book = pytest.mark.parametrize("name", IDS)


# Names


@each_book
def test_the_id_is_the_newest_edition_and_a_number_pins_one(name: str) -> None:
    newest, *earlier = editions(name)
    assert rulebook(name) is newest is rulebook(newest.name)
    assert [book.edition for book in editions(name)] == list(range(newest.edition, 0, -1))
    for book in earlier:
        assert rulebook(book.name) is book
        assert book.id == name
        assert eval(repr(book), {"rulebook": rulebook}) is book
    assert editions(newest.name) == (newest,)


def test_every_earlier_edition_belongs_to_a_rulebook_and_says_its_number() -> None:
    for name in earlier_editions():
        assert rulebook(name).name == name
        assert rulebook(name).id in rulebook_ids()
        assert rulebook(name).practice <= rulebook(rulebook(name).id).practice


@pytest.mark.parametrize("name", ["us-sic-bo@3", "us-sic-bo@", "us-sic-bo@x", "us-sic-bo@02", "us-sic-bo@0"])
def test_an_edition_that_does_not_exist_is_refused(name: str) -> None:
    known = r"expected an edition of us-sic-bo \(us-sic-bo@2, us-sic-bo@1\), got '"
    with pytest.raises(RulesError, match=known):
        rulebook(name)
    with pytest.raises(RulesError, match=known):
        editions(name)


@pytest.mark.parametrize("edition", [0, -1, 1_001, "2", 1.5, True])
def test_an_edition_that_is_no_number_is_refused(edition: object) -> None:
    with pytest.raises(BookError, match="edition"):
        loaded(data_of("us-sic-bo") | {"edition": edition})


def test_a_file_of_ones_own_has_editions_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = (
        text_of("us-sic-bo").replace('id = "us-sic-bo"', 'id = "mine"').replace("edition = 2", "edition = 3")
    )
    path.write_text(text, "utf-8")
    assert rulebook(path).name == "mine@3"
    assert [book.name for book in editions(str(path))] == ["mine@3"]


def test_an_edition_of_the_package_is_no_foreign_text_under_its_id() -> None:
    for name in (*rulebook_ids(), *earlier_editions()):
        assert not [line for line in rulebook(name).warnings() if "different rulebook" in line]
    other = loaded(edited(data_of("us-sic-bo"), ("operator",), "Somebody"))
    assert [line for line in other.warnings() if "different rulebook" in line]


# The changelog


@each_book
def test_every_clause_that_an_edition_reads_in_another_way_is_named_by_its_changelog(name: str) -> None:
    newest, before, *_ = editions(name)
    assert unnamed_clauses(before, newest) == ()
    assert newest.changes


@each_book
def test_every_entry_of_a_changelog_is_of_a_document_and_differs(name: str) -> None:
    for change in rulebook(name).changes:
        assert set(change.clauses) <= set(rulebook(name).clauses)
        assert change.was != change.now


@each_book
def test_an_edition_does_not_differ_from_itself(name: str) -> None:
    assert differences(rulebook(name), loaded(data_of(name))) == ()


def changed(name: str, *path: Any, to: object) -> Rulebook:
    return loaded(edited(data_of(name), path, to))


@pytest.mark.parametrize(
    ("path", "to", "part", "clauses"),
    [
        (("limits", "over_maximum"), "refuse", "limits", ("5.11",)),
        (("setting", 1, "default"), "ever", "setting", ("5.10",)),
        (("record", "by"), "pit-manager", "record", ("3.11",)),
        (("irregularities", "sight", "before_close"), "5.3", "irregularities.sight", ("5.3", "5.2")),
        (("pay_table", 0, "pay", 0, "odds"), "2 to 1", "pay_table", ("4.1.1",)),
    ],
)
def test_what_differs_is_found_with_its_clauses(
    path: tuple[Any, ...], to: object, part: str, clauses: tuple[str, ...]
) -> None:
    book = rulebook("mbs-sic-bo-v6")
    other = Rulebook(edited(data_of("mbs-sic-bo-v6"), path, to), "other.toml")
    found = differences(book, other)
    assert found
    assert {difference.part for difference in found} == {part}
    assert set(clauses) <= {clause for difference in found for clause in difference.clauses}


def test_sabotage_a_change_without_an_entry_is_found() -> None:
    newest, before = editions("us-sic-bo")
    silent = loaded({key: value for key, value in newest.data.items() if key != "change"})
    assert {"1", "6(a)", "6(b)"} <= set(unnamed_clauses(before, silent))


def test_steps_that_only_moved_do_not_differ() -> None:
    data = data_of("rws-sic-bo-etg-v8")
    steps = data["procedure"]["step"]
    assert (
        differences(rulebook("rws-sic-bo-etg-v8"), loaded(edited(data, ("procedure", "step"), steps[::-1])))
        == ()
    )


# Settings and the clauses that bound them


@each_book
def test_every_setting_names_the_clause_that_bounds_it(name: str) -> None:
    book = rulebook(name)
    for setting in book.settings.values():
        assert setting.clause in book.clauses or setting.clause in HOUSE_PROCEDURES
        choices = setting.choices or tuple(map(str, setting.bounds or ()))
        assert setting.default in choices or setting.bounds


def test_a_setting_without_its_clause_is_refused_since_practice_2() -> None:
    data = data_of("mbs-sic-bo-v6")
    bare = {key: value for key, value in data["setting"][0].items() if key != "clause"}
    with pytest.raises(BookError, match="clause"):
        loaded(edited(data, ("setting", 0), bare))
    with pytest.raises(BookError, match="a clause under"):
        loaded(edited(data, ("setting", 0, "clause"), "99"))
    assert all(setting.clause is None for setting in rulebook("mbs-sic-bo-v6@1").settings.values())


# Who adopts the interpretations


def test_rws_5_10_interpretations_are_adopted_by_a_shift_manager_and_nowhere_else() -> None:
    adoptions = {name: rulebook(name).adoption for name in IDS}
    assert adoptions.pop("rws-sic-bo-etg-v8") == ("shift-manager", "5.10")
    assert set(adoptions.values()) == {None}
    assert rulebook("rws-sic-bo-etg-v8@1").adoption is None


@pytest.mark.parametrize(
    ("adoption", "problem"),
    [
        ({"by": "king", "clause": "5.10"}, "one of the ranks"),
        ({"by": "shift-manager", "clause": "99"}, "a clause under"),
        ({"by": "shift-manager"}, "clause"),
        ({"by": "shift-manager", "clause": "5.10", "on": "Monday"}, "unknown key"),
        (["shift-manager"], "adoption"),
    ],
)
def test_an_adoption_that_does_not_hold_is_refused(adoption: object, problem: str) -> None:
    with pytest.raises(BookError, match=problem):
        loaded(data_of("rws-sic-bo-etg-v8") | {"adoption": adoption})
