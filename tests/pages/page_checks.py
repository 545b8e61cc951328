"""Looking at a page as a stranger would: can everyone use it, hit what is on it, and read it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page

THEMES: Final = ("felt", "contrast")
LEAST_TARGET: Final = 44  # px, both ways
_RULES: Final = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
_SCRIPT: Final = str(Axe().axe_script)

# Everything that can be pressed and seen; a link within a sentence is as small as its words, and may be.
_TARGETS: Final = """() => [...document.querySelectorAll(
    "button, a[href], input, select, textarea, summary, [role=button], [role=tab], [role=switch]"
)].flatMap((one) => {
    const { width, height } = (one.closest("label") ?? one).getBoundingClientRect();
    const style = getComputedStyle(one);
    const isSeen = one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const isHidden = !isSeen || width <= 1 || height <= 1;
    if (isHidden || (one.tagName === "A" && style.display === "inline")) return [];
    const { testid, area } = one.dataset;
    const name = testid ?? area ?? one.getAttribute("aria-label") ?? one.textContent.trim();
    return [{ name, wide: width, tall: height }];
})"""

_WIDTHS: Final = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"

# What can be read or heard: texts of elements that are shown, and names that a screen reader speaks; but for
# what the page itself marks as another language.
_TEXTS: Final = """() => {
    const found = new Set();
    const isForeign = (one) => one.closest("[lang]") !== document.documentElement;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode.textContent.trim();
        const parent = walk.currentNode.parentElement;
        const isText = text && !parent.closest("script, style, template");
        if (isText && !isForeign(parent) && parent.checkVisibility()) found.add(text);
    }
    for (const one of document.querySelectorAll("[aria-label], [title], [placeholder], [alt]"))
        for (const name of ["aria-label", "title", "placeholder", "alt"])
            if (one.getAttribute(name)?.trim() && !isForeign(one)) found.add(one.getAttribute(name).trim());
    return [...found];
}"""


class Target(NamedTuple):
    """Something that can be pressed."""

    name: str
    wide: float
    tall: float


async def axe(page: Page) -> list[str]:
    """What axe finds against a page, in both themes: nothing, it should be."""
    before = await page.locator("html").get_attribute("data-theme")
    found: list[str] = []
    await page.evaluate(_SCRIPT)
    for theme in THEMES:
        await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        violations: list[Any] = await page.evaluate(
            "async (rules) => (await axe.run(document, rules)).violations", _RULES
        )
        found += [
            f"{theme}: {one['id']}: {one['help']}: {node['html'][:160]} {_why(node)}"
            for one in violations
            for node in one["nodes"]
        ]
    await page.evaluate(
        "(theme) => { if (theme) document.documentElement.dataset.theme = theme;"
        " else delete document.documentElement.dataset.theme }",
        before,
    )
    return found


def _why(node: dict[str, Any]) -> str:
    return "; ".join(one["message"] for one in (*node["any"], *node["all"], *node["none"]))


async def small_targets(page: Page) -> list[Target]:
    """What is smaller than a finger; half a pixel is forgiven, since layouts round."""
    found = [Target(**one) for one in await page.evaluate(_TARGETS)]
    if not found:
        raise AssertionError(f"expected something to press on {page.url}, got nothing")
    return [one for one in found if min(one.wide, one.tall) < LEAST_TARGET - 0.5]


async def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    whole, window = await page.evaluate(_WIDTHS)
    return max(0, int(whole) - int(window))


async def texts(page: Page) -> list[str]:
    """Everything that can be read on the page or heard of it."""
    found: list[str] = await page.evaluate(_TEXTS)
    return found
