"""The pages as a project: what they are made from, what is made of them, and that both are right."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from taisai.protocol.views import SeatView, TableView
from taisai.server.http.public import FOLDER, KINDS, read_built
from tests.project.tree import ROOT
from tools import pages, schemas

FRONTEND = ROOT / "frontend"
PACKAGES: dict[str, Any] = json.loads((FRONTEND / "package.json").read_text("utf-8"))
LOCK = (FRONTEND / "package-lock.json").read_text("utf-8")
MESSAGES = (FRONTEND / "src" / "connection" / "messages.ts").read_text("utf-8")
FIRST_LINE = "// Made from the server's schemas {digest} by `npm run messages`, never by hand."
NPM = [sys.executable, "-I", str(ROOT / "tools" / "pages.py"), "npm"]


# What they are made from


def test_every_version_is_exact_and_no_registry_is_named() -> None:
    wanted = PACKAGES["dependencies"] | PACKAGES["devDependencies"] | PACKAGES["overrides"]
    assert [name for name, version in wanted.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    assert '"resolved"' not in LOCK
    locked = json.loads(LOCK)["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert [name for name, one in locked.items() if name and "integrity" not in one] == []


def test_what_pages_bring_to_a_browser_is_as_little_as_can_be() -> None:
    assert PACKAGES["dependencies"].keys() == {"uqr"}


def javascript_digest(folder: Path) -> str:
    """As frontend/tools/digest.mjs reckons it."""
    found = pages.find_node()
    node = shutil.which("node", path=found.path) if found else None
    assert node, "expected Node, got none: run make dev"
    script = f"import {{ digest }} from {(FRONTEND / 'tools' / 'digest.mjs').as_uri()!r};"
    script += f"process.stdout.write(digest({str(folder)!r}))"
    command = [node, "--input-type=module", "-e", script]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A frontend of every kind of file."""
    for name in ("index.html", "src/a.ts", "src/B.ts", "src/a/z.ts", "src/tests/t.ts", "中/文.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    return tmp_path


def test_page_and_installer_compute_the_same_digest(sources: Path, tmp_path: Path) -> None:
    assert pages.digest(sources) == javascript_digest(sources)
    copy = tmp_path / "copy"  # others may be writing in the checkout
    shutil.copytree(FRONTEND, copy, ignore=shutil.ignore_patterns("node_modules"))
    assert pages.digest(copy) == javascript_digest(copy)


@pytest.mark.parametrize("name", ["index.html", "src/a.ts", "src/tests/t.ts", "new.html", "src/new.ts"])
def test_whatever_changes_a_page_changes_the_digest(sources: Path, name: str) -> None:
    before = pages.digest(sources)
    (sources / name).write_text("other", "utf-8")
    assert pages.digest(sources) != before


@pytest.mark.parametrize("name", ["tests/a.test.ts", "tools/a.mjs", "node_modules/a/a.js", "src/.swp"])
def test_whatever_changes_no_page_does_not(sources: Path, name: str) -> None:
    before = pages.digest(sources)
    (sources / name).parent.mkdir(parents=True, exist_ok=True)
    (sources / name).write_text("other", "utf-8")
    assert pages.digest(sources) == before == javascript_digest(sources)


# What is made of them


def test_the_pages_that_are_built_are_those_of_these_sources() -> None:
    assert pages.is_built(ROOT), "expected pages built from these sources, got others: run make dev"


def inline(html: str) -> Iterator[str]:
    """What the server's content security policy would stop."""
    yield from re.findall(r"<style|\sstyle=|\son\w+=|javascript:", html)
    yield from re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", html)
    yield from re.findall(r"(?:src|href)=\"(?!/assets/|/[a-z]*[\"?])[^\"]*", html)


def test_every_page_says_what_it_was_made_from_and_asks_for_nothing_that_is_not_there() -> None:
    built = read_built(FOLDER)
    assert built.pages
    for name, body in built.pages.items():
        html = body.decode()
        assert f'<meta name="taisai-pages" content="{built.digest}">' in html, name
        assert list(inline(html)) == [], name
        assert set(re.findall(r'"/assets/([^"]+)"', html)) <= built.assets.keys(), name
    assert {name.rpartition(".")[2] for name in built.assets} <= KINDS.keys()


@pytest.mark.parametrize(
    "html",
    ["<script>1</script>", '<p style="x">', '<p onclick="x">', '<script src="https://x.test/x.js"></script>'],
)
def test_sabotage_what_the_policy_would_stop_is_seen(html: str) -> None:
    assert list(inline(html))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is needed to build a wheel, with a page of its own and nothing built."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "pages.py", folder / "tools")
    package = folder / "src" / "taisai"
    (package / "server" / "http").mkdir(parents=True)
    shutil.copy(ROOT / "src" / "taisai" / "__init__.py", package)
    made = folder / "frontend"
    shutil.copytree(FRONTEND / "tools", made / "tools")
    for name in (
        "package.json",
        "package-lock.json",
        "vite.config.ts",
        "textsOfPlayers.ts",
        "svelte.config.js",
        "tsconfig.json",
    ):
        shutil.copy(FRONTEND / name, made)
    (made / "index.html").write_text('<head></head><script type="module" src="/src/main.ts"></script>')
    (made / "src").mkdir()
    (made / "src" / "main.ts").write_text('document.title = "Taisai";')
    modules = made / "node_modules"  # each package is as it was installed; what is made in the folder is ours
    modules.mkdir()
    for package in (FRONTEND / "node_modules").iterdir():
        if not package.name.startswith(".taisai-"):
            (modules / package.name).symlink_to(package)
    return folder


def wheel_of(folder: Path) -> subprocess.CompletedProcess[str]:
    """Builds one, or tries to."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    return subprocess.run(build, cwd=folder, check=False, capture_output=True, text=True)


def test_a_wheel_brings_the_pages_and_not_their_sources(clone: Path) -> None:
    done = wheel_of(clone)
    assert done.returncode == 0, done.stderr
    (wheel,) = (clone / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        digest = archive.read("taisai/server/http/built/pages.txt").decode().strip()
        html = archive.read("taisai/server/http/built/index.html").decode()
    assert digest == pages.digest(clone / "frontend")
    (script,) = re.findall(r'src="/(assets/[^"]+\.js)"', html)
    assert f"taisai/server/http/built/{script}" in names
    assert not {name for name in names if "frontend" in name or "hatch_build" in name}


def test_pages_that_fit_are_not_built_again_and_others_are(clone: Path) -> None:
    assert wheel_of(clone).returncode == 0
    built = clone / pages.BUILT
    (built / "kept").touch()
    assert wheel_of(clone).returncode == 0
    assert (built / "kept").exists()
    (clone / "frontend" / "src" / "main.ts").write_text('document.title = "Tai Sai";')
    assert wheel_of(clone).returncode == 0
    assert not (built / "kept").exists()
    assert (built / "pages.txt").read_text().strip() == pages.digest(clone / "frontend")


def test_a_page_that_cannot_be_built_leaves_the_old_ones_and_says_so(clone: Path) -> None:
    assert wheel_of(clone).returncode == 0
    before = (clone / pages.BUILT / "pages.txt").read_text()
    main = clone / "frontend" / "src" / "main.ts"
    kept = main.read_text()
    main.write_text('import "./nothing";')
    done = wheel_of(clone)
    main.write_text(kept)
    assert done.returncode != 0
    assert "expected Vite to build the pages, got what stands above" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert (clone / pages.BUILT / "pages.txt").read_text() == before


def test_without_frontend_built_pages_are_enough_and_nothing_is_not(tmp_path: Path) -> None:
    with pytest.raises(pages.PagesError, match="got neither"):
        pages.build(tmp_path)
    (tmp_path / pages.BUILT).mkdir(parents=True)
    (tmp_path / pages.BUILT / "pages.txt").write_text("feed")
    pages.build(tmp_path)


def test_without_node_the_hook_asks_for_it_as_a_package(
    clone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["PagesHook"]
    asking = hook(str(clone), {}, None, None, "", "wheel")
    with_built = hook(str(tmp_path), {}, None, None, "", "wheel")
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "pages.py", tmp_path / "tools")
    (tmp_path / pages.BUILT).mkdir(parents=True)
    (tmp_path / pages.BUILT / "pages.txt").write_text("feed")
    (clone / "frontend" / "src" / "main.ts").write_text("document.title = 'another';")
    assert asking.dependencies() == []
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert asking.dependencies() == [pages.NODE_WHEEL]
    assert with_built.dependencies() == []


# Messages


def test_the_types_of_messages_are_those_of_the_server() -> None:
    first = MESSAGES.partition("\n")[0]
    assert first == FIRST_LINE.format(digest=schemas.digest()), "run make pictures"


def test_sabotage_another_message_is_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = schemas.digest()
    monkeypatch.setitem(schemas.UNIONS, "AnyView", SeatView | TableView)
    assert schemas.digest() != before


def test_the_types_of_messages_are_what_the_schema_makes(tmp_path: Path) -> None:
    written = tmp_path / "messages.ts"
    done = subprocess.run(
        [*NPM, "run", "--silent", "messages", "--", str(written)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert written.read_text("utf-8") == MESSAGES, "run make pictures"


def test_every_message_view_and_body_has_a_type() -> None:
    named = set(re.findall(r"^export (?:interface|type) (\w+)", MESSAGES, re.MULTILINE))
    assert named == schemas.schema()["$defs"].keys()


def test_what_is_always_told_is_always_there_and_what_may_be_left_out_may() -> None:
    parts = schemas.schema()["$defs"]
    assert set(parts["SeatView"]["required"]) == {
        "of",
        *(one.name for one in msgspec.structs.fields(SeatView)),
    }
    assert "clause" not in parts["RefusedReply"]["required"]
    assert parts["SeatChanges"]["required"] == ["of"]
    assert "token" not in parts["HelloRequest"]["required"]
