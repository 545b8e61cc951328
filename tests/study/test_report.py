"""Reports in a terminal of any width, and in a notebook."""

import re

from taisai.study.report import Sheet, StudyReport, columns

NAMES = ("area", "ways", "edge", "deviation", "least", "most")
ROWS = tuple(
    (f"total-{n}", *(f"{(n * 1_234_567) ** power:,}" for power in range(1, len(NAMES)))) for n in range(4, 18)
)
SHEET = Sheet("Figures that are long", columns(*NAMES, numbers=NAMES[1:]), ROWS)


def test_figures_stay_whole_at_every_width_that_holds_the_longest_with_its_name() -> None:
    longest = max(len(cell) for row in ROWS for cell in row)
    for width in range(longest + 13, 200):
        lines = SHEET.text(width).splitlines()
        assert max(map(len, lines)) <= width
        words = [word for line in lines for word in line.split()]
        assert all(
            words.count(cell) == sum(row.count(cell) for row in ROWS) for row in ROWS for cell in row[1:]
        )


def test_every_part_of_a_narrow_table_names_its_rows() -> None:
    wide, narrow = SHEET.text(300), SHEET.text(70)
    assert [line.count("total-9 ") for line in wide.splitlines()].count(1) == 1
    parts = [line for line in narrow.splitlines() if line.strip().startswith("area")]
    assert len(parts) > 1
    assert len(re.findall(r"^ total-9 ", narrow, re.MULTILINE)) == len(parts)


def test_a_notebook_gets_words_and_no_markup() -> None:
    sheet = Sheet("a & b", columns("who", "what", numbers=["what"]), (("<i>", "1"),))
    page = StudyReport((sheet,), ("so < so",)).html()
    assert "a &amp; b" in page
    assert "&lt;i&gt;" in page
    assert "<p>so &lt; so</p>" in page
    assert page.count("text-align:right") == 2


def test_columns_without_names_words_or_rows_are_drawn_too() -> None:
    assert "nothing" in Sheet("nothing", columns("", "", ""), (("", "", ""),)).text(20)
    assert "who" in Sheet("nobody", columns("who", "what"), ()).text(12)
