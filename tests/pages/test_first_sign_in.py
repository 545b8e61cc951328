"""A house that `taisai init` made, in a browser: people sign in for the first time, and let others in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, CDPSession, Page, expect

from taisai.server.runtime.environment import WallClock
from taisai.server.runtime.setup import set_up
from tests.cli.server_process import Authenticator, serving
from tests.pages.browser import screenshot
from tests.pages.page_checks import axe, overflow, small_targets, texts
from tests.pages.people import DESK
from tests.server.house_folder import entropy, plan

pytestmark = pytest.mark.part(name="pages")
ANN, SUE, DAN = "seven red lanterns", "lanterns over the river", "under the dome they lie"
LATIN = re.compile(r"[A-Za-z]{3,}")


@asynccontextmanager
async def tab(browser: Browser, url: str) -> AsyncIterator[Page]:
    """A page of somebody's own, on which nothing may fail."""
    profile = await browser.new_context(base_url=url, viewport=DESK, locale="en-GB", reduced_motion="reduce")
    page = await profile.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    await profile.close()
    assert faults == []


async def first_sign_in(page: Page, person: str, code: str, password: str) -> Authenticator:
    """As docs/how-to/first-sign-in.md describes it."""
    await page.goto("/office")
    await page.get_by_test_id("first-sign-in").click()
    await page.get_by_test_id("person").fill(person)
    await page.get_by_test_id("activation").fill(code)
    await page.get_by_test_id("begin").click()
    secret = (await page.get_by_test_id("secret").inner_text()).replace(" ", "")
    authenticator = Authenticator(f"otpauth://totp/Lotus?secret={secret}")
    await page.get_by_test_id("password").fill(password)
    await page.get_by_test_id("again").fill(password)
    await page.get_by_test_id("code").fill(authenticator.code())
    await page.get_by_test_id("save").click()
    await expect(page.get_by_test_id("done")).to_be_visible()
    return authenticator


async def is_for_everyone(page: Page, name: str) -> None:
    """It has no barrier, fits, and is looked at in a picture."""
    await screenshot(page, name)
    assert await axe(page) == []
    assert await overflow(page) == 0
    assert await small_targets(page) == []


async def signs_in(page: Page, person: str, password: str, code: str) -> None:
    await page.get_by_test_id("person").fill(person)
    await page.get_by_test_id("password").fill(password)
    await page.get_by_test_id("code").fill(code)
    await page.get_by_test_id("sign-in").click()


async def gives_code(page: Page, other: Page, ann: Authenticator, sue: Authenticator) -> str:
    """Ann enrols Dan, and Sue approves on her own page."""
    await page.get_by_role("link", name="Office").click()
    await signs_in(page, "Ann Tan", ANN, ann.code())
    await page.get_by_test_id("new-person").fill("Dan Ho")
    await is_for_everyone(page, "office-enrol")
    await page.get_by_test_id("enrol").click()
    await expect(page.get_by_test_id("second")).to_contain_text("Dan Ho gets a code for a first sign-in.")
    await other.goto("/pit")
    await signs_in(other, "Sue Lim", SUE, sue.code())
    card = other.get_by_test_id("approval")
    for text in ("Ann Tan (Administrator)", "give them a code for a first sign-in", "Dan Ho", "Dealer"):
        await expect(card).to_contain_text(text)
    await is_for_everyone(other, "office-approval")
    await card.get_by_test_id("approve").click()
    code = await page.get_by_test_id("activation-code").inner_text()
    await is_for_everyone(page, "office-code")
    await page.keyboard.press("Escape")  # it is shown only once: a stray key does not close it
    await expect(page.get_by_test_id("activation-code")).to_have_text(code)
    await page.get_by_test_id("activation-done").click()
    await expect(page.get_by_test_id("person-Dan Ho")).to_contain_text("Code until")
    return code


async def is_read_in_chinese(page: Page, code: str) -> None:
    await page.goto("/first-sign-in")
    await page.get_by_test_id("language").select_option("zh")
    await page.get_by_test_id("person").fill("Dan Ho")
    await page.get_by_test_id("activation").fill(code.lower())
    await page.get_by_test_id("begin").click()
    await expect(page.get_by_test_id("own-credentials")).to_be_visible()
    await is_for_everyone(page, "first-sign-in-own")
    words = " ".join(await texts(page))
    assert set(LATIN.findall(words)) <= {"Dan", "English", "Taisai"}
    await page.get_by_test_id("language").select_option("en")


async def is_typed_in_any_form(page: Page, code: str) -> None:
    """A code is shown in groups as it is typed, and one that is not whole is not sent."""
    field = page.get_by_test_id("activation")
    await field.fill("")
    await field.press_sequentially(code.replace("-", "").lower()[:-4])
    await expect(field).to_have_value(code[:-5])
    await field.press("Enter")
    await expect(page.get_by_test_id("why")).to_contain_text("this one has 24")
    await field.press_sequentially(code[-4:])
    await expect(field).to_have_value(code)
    await field.fill("")


async def test_people_let_each_other_in(browser: Browser, tmp_path: Path) -> None:
    made = set_up(plan(tmp_path / "lotus"), now=WallClock().now(), entropy=entropy())
    async with serving(made.config) as served:
        async with tab(browser, served.url) as page:
            await page.goto("/first-sign-in")
            await is_for_everyone(page, "first-sign-in")
            await page.get_by_test_id("person").fill("Sue Lim")
            await page.get_by_test_id("activation").fill("0000-0000-0000-0000-0000-0000-0000")
            await page.get_by_test_id("begin").click()
            await expect(page.get_by_test_id("why")).to_contain_text("used or too old")
            await is_typed_in_any_form(page, made.activations["Sue Lim"])
            sue = await first_sign_in(page, "Sue Lim", made.activations["Sue Lim"], SUE)
        async with tab(browser, served.url) as page, tab(browser, served.url) as other:
            ann = await first_sign_in(page, "Ann Tan", made.activations["Ann Tan"], ANN)
            code = await gives_code(page, other, ann, sue)
        async with tab(browser, served.url) as page:
            await is_read_in_chinese(page, code)
            dan = await first_sign_in(page, "Dan Ho", code, DAN)
            await page.goto("/account")
            await signs_in(page, "Dan Ho", DAN, dan.code())
            await expect(page.get_by_test_id("prove")).to_be_visible()
            await is_for_everyone(page, "account")
        await served.stopped()


async def with_authenticator(page: Page) -> CDPSession:
    """The browser's own stand-in for a device that unlocks passkeys."""
    session = await page.context.new_cdp_session(page)
    await session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page.set_default_timeout(20_000)
    assert made["authenticatorId"]
    return session


async def ends_other_sessions(page: Page) -> None:
    """Ann signs in once more, as if elsewhere, sees both sessions and ends the other one by passkey."""
    sessions = page.get_by_test_id("own-session")
    await expect(sessions).to_have_count(1)
    await page.evaluate("sessionStorage.clear()")
    await page.reload()
    await page.get_by_test_id("person").fill("Ann Tan")
    await page.get_by_test_id("use-passkey").click()
    await expect(sessions).to_have_count(2)
    await is_for_everyone(page, "own-sessions")
    await page.get_by_test_id("end-others").click()
    await page.get_by_test_id("language").select_option("zh")
    await is_for_everyone(page, "own-sessions-end")
    words = " ".join(await texts(page))
    assert set(LATIN.findall(words)) <= {"Ann", "Tan", "English", "Taisai"}
    await page.get_by_test_id("language").select_option("en")
    await page.get_by_test_id("end-passkey").click()
    await expect(sessions).to_have_count(1)
    await page.reload()  # its new token is kept
    await expect(sessions).to_have_count(1)
    await page.get_by_test_id("sign-out").click()
    await expect(page.get_by_test_id("sign-in")).to_be_visible()


async def test_a_passkey_takes_the_place_of_the_authenticator(browser: Browser, tmp_path: Path) -> None:
    made = set_up(plan(tmp_path / "lotus"), now=WallClock().now(), entropy=entropy())
    async with serving(made.config) as served:
        async with tab(browser, served.url.replace("127.0.0.1", "localhost")) as page:
            await with_authenticator(page)
            await page.goto("/first-sign-in")
            await page.get_by_test_id("person").fill("Ann Tan")
            await page.get_by_test_id("activation").fill(made.activations["Ann Tan"])
            await page.get_by_test_id("begin").click()
            await page.get_by_test_id("password").fill(ANN)
            await page.get_by_test_id("again").fill(ANN)
            await is_for_everyone(page, "passkey-offered")
            await page.get_by_test_id("add-passkey").click()
            await expect(page.get_by_test_id("passkey-made")).to_be_visible()
            await expect(page.get_by_test_id("secret")).to_have_count(0)
            await page.get_by_test_id("save").click()
            await expect(page.get_by_test_id("done")).to_be_visible()
            await page.goto("/office")
            await page.get_by_test_id("person").fill("ann tan")
            await is_for_everyone(page, "passkey-sign-in")
            await page.get_by_test_id("use-passkey").click()
            await expect(page.get_by_test_id("person-Ann Tan")).to_contain_text("Can sign in")
            await page.get_by_test_id("account").click()
            await page.get_by_test_id("prove-passkey").click()
            await page.get_by_test_id("new-authenticator").check()
            await expect(page.get_by_test_id("secret")).to_be_visible()
            secret = (await page.get_by_test_id("secret").inner_text()).replace(" ", "")
            authenticator = Authenticator(f"otpauth://totp/Lotus?secret={secret}")
            await page.get_by_test_id("code").fill(authenticator.code())
            await page.get_by_test_id("save").click()
            await signs_in(page, "Ann Tan", ANN, authenticator.code())
            await expect(page.get_by_test_id("prove")).to_be_visible()
            await ends_other_sessions(page)
        await served.stopped()


async def test_a_second_person_approves_at_the_first_ones_page_with_a_passkey(
    browser: Browser, tmp_path: Path
) -> None:
    made = set_up(plan(tmp_path / "lotus"), now=WallClock().now(), entropy=entropy())
    async with serving(made.config) as served:
        url = served.url.replace("127.0.0.1", "localhost")
        async with tab(browser, url) as page:
            ann = await first_sign_in(page, "Ann Tan", made.activations["Ann Tan"], ANN)
            await with_authenticator(page)  # Sue's own, which she brings along
            await page.goto("/first-sign-in")
            await page.get_by_test_id("person").fill("Sue Lim")
            await page.get_by_test_id("activation").fill(made.activations["Sue Lim"])
            await page.get_by_test_id("begin").click()
            await page.get_by_test_id("password").fill(SUE)
            await page.get_by_test_id("again").fill(SUE)
            await page.get_by_test_id("add-passkey").click()
            await expect(page.get_by_test_id("passkey-made")).to_be_visible()
            await page.get_by_test_id("save").click()
            await expect(page.get_by_test_id("done")).to_be_visible()
            await page.goto("/office")
            await signs_in(page, "Ann Tan", ANN, ann.code())
            await page.get_by_test_id("new-person").fill("Dan Ho")
            await page.get_by_test_id("enrol").click()
            here = page.get_by_test_id("second-here")
            await here.locator("summary").click()
            for text in (
                "Ann Tan (Administrator)",
                "give them a code for a first sign-in",
                "Dan Ho",
                "Dealer",
            ):
                await expect(here).to_contain_text(text)
            await is_for_everyone(page, "approval-here")
            await page.get_by_test_id("second-name").fill("Ann Tan")  # whose passkey it is not
            await page.get_by_test_id("second-passkey").click()
            await expect(page.get_by_test_id("toast")).to_be_visible()
            await expect(page.get_by_test_id("second")).to_have_attribute("data-state", "waiting")
            await page.get_by_test_id("second-name").fill("sue lim")
            await page.get_by_test_id("second-passkey").click()
            await expect(page.get_by_test_id("activation-code")).to_be_visible()
        await served.stopped()
