"""Writes docs/reference/settings.md from the program's own list of settings."""

from __future__ import annotations

from pathlib import Path

from taisai.server.config.settings import SECTIONS, WITNESS, ServerSetting, WitnessConfig, settings_of
from taisai.server.config.tables import TABLE, TableConfig
from taisai.server.config.writing import toml

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"
HEAD = """\
# Settings

`make pictures` writes this page from the program's own list. It is every setting of casino.toml, the file
that `taisai init` makes and `taisai serve --config` reads. The server refuses a setting that is not listed
here, and names the one that was probably meant. At a start the journal records all settings except paths,
if they differ from those before. Limits, settings and offers of a `[[table]]` apply when the table is first
opened; later changes are made at the table, by two people.
"""


def tables() -> str:
    """Every section with its settings."""
    parts = []
    for name, section in (SECTIONS | {WITNESS: WitnessConfig, TABLE: TableConfig}).items():
        head = f"[[{name}]]" if name in (TABLE, WITNESS) else f"[{name}]"
        rows = "".join(_row(one) for one in settings_of(section))
        parts.append(
            f"\n### `{head}`\n\n{section.__doc__}\n\n| setting | meaning | takes | default |\n"
            f"|---|---|---|---|\n{rows}"
        )
    return "".join(parts)


def page() -> str:
    """The page as it should be."""
    return HEAD + tables()


def _row(one: ServerSetting) -> str:
    optional = "nothing" if one.default is None else f"`{toml(one.default)}`"
    default = "required" if one.required else optional
    return f"| `{one.name}` | {one.says} | {one.kind.expected} | {default} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
