"""The pages as they are served: each at its path, with what belongs to it, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taisai.server.auth import permissions
from taisai.server.auth.permissions import Role
from taisai.server.http import public
from taisai.server.http.guard import HEADERS
from taisai.server.http.public import FOR_EVER, KINDS, NO_PAGES, PAGES, BuiltPages, read_built
from tests.server.virtual_server import Connected, connected, run

BUILT = BuiltPages(
    "feed0123feed0123",
    {name: f"<p>{name}</p>".encode() for name in PAGES.values()},
    {f"part-1a2b.{kind}": kind.encode() for kind in KINDS} | {"part-1a2b.exe": b"not ours"},
)


def with_pages(house: Connected) -> Connected:
    """The same house, with pages that are known here."""
    house.dispatcher.pages = BUILT
    return house


@pytest.mark.parametrize("path", PAGES)
@connected()
async def test_a_page_is_shown_at_its_path_and_never_kept(house: Connected, path: str) -> None:
    got = await with_pages(house).request("GET", f"{path}?table=T1")
    assert (got.status, got.body.decode()) == (200, f"<p>{PAGES[path]}</p>")
    assert got.headers["content-type"] == "text/html; charset=utf-8"
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("kind", KINDS)
@connected()
async def test_what_belongs_to_a_page_is_kept_for_ever(house: Connected, kind: str) -> None:
    got = await with_pages(house).request("GET", f"/assets/part-1a2b.{kind}")
    assert (got.status, got.body.decode()) == (200, kind)
    assert got.headers["content-type"].partition(";")[0] == KINDS[kind]
    assert got.headers["cache-control"] == FOR_EVER
    assert got.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    [
        "nothing-1a2b.js", "part-1a2b.exe", "part-1a2b", "pages.txt", "index.html", "..", "../public.txt",
        "..%2fpages.txt", "%2e%2e/public.py", "....//public.py", "part-1a2b.js/", "part-1a2b.js%00", ".", "",
        "sub/part-1a2b.js", "PART-1A2B.JS",
    ],
)  # fmt: skip
@connected()
async def test_nothing_else_is_served_and_that_is_said_in_our_words(house: Connected, name: str) -> None:
    got = await with_pages(house).request("GET", f"/assets/{name}")
    if name == "part-1a2b.js/":  # the same path, written otherwise
        assert got.body == b"js"
        return
    assert (got.status, got.reason) == (404, "not-known")
    assert got.said["message"].startswith(("unknown asset", "unknown endpoint", "not found"))
    assert got.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/"])
@connected()
async def test_a_server_without_pages_says_in_one_sentence_how_to_build_them(
    house: Connected, path: str
) -> None:
    house.dispatcher.pages = NO_PAGES
    got = await house.request("GET", path)
    assert got.status == 503
    assert got.headers["content-type"].startswith("text/html")
    assert "<code>make demo</code> builds them." in got.body.decode()
    assert (await house.request("GET", "/assets/part-1a2b.js")).status == 404


@connected()
async def test_a_page_that_was_not_built_is_not_known(house: Connected) -> None:
    house.dispatcher.pages = BuiltPages("0", {"index.html": b""})
    got = await house.request("GET", "/terminal")
    assert (got.status, got.reason) == (404, "not-known")


def test_every_page_is_for_everyone_and_the_permits_know_of_no_other() -> None:
    paths = {"GET " + path for path in PAGES} | {"GET /assets/{name}"}
    assert paths <= permissions.ENDPOINTS.keys()
    for path in paths:
        assert permissions.ENDPOINTS[path].roles.keys() == set(Role)
    handled = {"GET " + path for one in public.ENDPOINTS for path in one.paths}
    assert paths <= {path.replace(":str", "") for path in handled}


# Which pages they are


@connected()
async def test_the_challenge_tells_which_pages_are_served(house: Connected) -> None:
    for built in (BUILT, NO_PAGES):
        house.dispatcher.pages = built
        line = house.dials()
        await house.settle()
        assert line.told[0]["pages"] == built.digest


def test_a_server_serves_the_pages_of_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taisai.server.runtime.house_server.our_pages", lambda: BUILT)

    async def whole(loop: Any) -> None:
        assert Connected(loop).dispatcher.pages is BUILT

    run(whole)


def written(folder: Path) -> Path:
    """A folder as Vite leaves it."""
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("a page")
    (folder / "assets" / "index-1a2b.js").write_text("a script")
    (folder / "pages.txt").write_text("feed\n")
    return folder


def test_pages_are_read_as_they_were_built(tmp_path: Path) -> None:
    found = read_built(written(tmp_path))
    assert found == BuiltPages("feed", {"index.html": b"a page"}, {"index-1a2b.js": b"a script"})


def test_pages_half_built_are_no_pages(tmp_path: Path) -> None:
    assert read_built(tmp_path / "nowhere") == NO_PAGES
    (written(tmp_path) / "pages.txt").unlink()
    assert read_built(tmp_path) == NO_PAGES


def test_sabotage_pages_half_built_would_be_served_without_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (written(tmp_path) / "pages.txt").unlink()
    monkeypatch.setattr("taisai.server.http.public.DIGEST", "index.html")
    assert read_built(tmp_path) != NO_PAGES
