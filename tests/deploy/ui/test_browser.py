"""The pages in a browser: nothing is asked of another host, nothing fails there, both colour schemes can be read, and axe finds nothing against WCAG 2.1 AA."""

import shutil

import pytest

from deploy.ui.test_server import EVIL, Site, keep

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is on the path")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path / "rollouts"))
    made = Site()
    yield made
    made.close()


@pytest.fixture
def browser():
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield started
        started.close()


def light(page):
    """Return how light the page's ground and its text are, from 0 to 255."""
    read = "name => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3).map(Number)"
    ground, text = (page.evaluate(read, name) for name in ("backgroundColor", "color"))
    return sum(ground) / 3, sum(text) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_person_finds_a_result_by_keyboard_in_either_scheme(site, browser, scheme):
    report = "<!doctype html><html lang='en'><title>Report</title><main><h1>Report</h1><p>All of it.</p></main></html>"
    identity = keep(
        kind="assess", model=EVIL, device="cpu", machine="here", result={"answers": {}, "findings": 0, "page": report}
    )
    page = browser.new_context(color_scheme=scheme).new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "console",
        lambda message: wrong.append(f"{message.text} {message.location}") if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto(f"http://127.0.0.1:{site.port}/?key={site.key}")

    ground, text = light(page)
    assert (ground > 200 and text < 100) if scheme == "light" else (ground < 80 and text > 150)
    found = axe.Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()
    link = page.get_by_role("link", name=identity[:8]).first
    for _ in range(40):
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{identity}*")
    found = axe.Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()
    assert wrong == [] and all(one.startswith(f"http://127.0.0.1:{site.port}/") for one in asked)
