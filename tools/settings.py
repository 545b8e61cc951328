"""Writes the tables of settings in docs/operating.md out of the program's own list."""

from __future__ import annotations

from pathlib import Path

from taisai.server.config.configuration import toml
from taisai.server.config.settings import SECTIONS, ServerSetting, settings_of
from taisai.server.config.tables import TABLE, TableConfig

PAGE = Path(__file__).parent.parent / "docs" / "operating.md"
BEGIN, END = "<!-- settings: made by `make pictures` -->\n", "<!-- settings end -->\n"


def tables() -> str:
    """Every section with its settings."""
    parts = []
    for name, section in (SECTIONS | {TABLE: TableConfig}).items():
        head = f"[[{name}]]" if name == TABLE else f"[{name}]"
        rows = "".join(_row(one) for one in settings_of(section))
        parts.append(
            f"\n### `{head}`\n\n{section.__doc__}\n\n| setting | meaning | takes | unless said |\n"
            f"|---|---|---|---|\n{rows}"
        )
    return "".join(parts) + "\n"


def page(text: str) -> str:
    """The page with its tables as they should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{tables()}{END}{after}"


def _row(one: ServerSetting) -> str:
    if one.required:
        default = "must be given"
    else:
        default = "nothing" if one.default is None else f"`{toml(one.default)}`"
    return f"| `{one.name}` | {one.says} | {one.kind.expected} | {default} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), encoding="utf-8")
    print(PAGE)
