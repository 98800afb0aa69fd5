"""A real browser for tests of pages: Debian's Chromium, driven by Playwright; or why there is none."""

import shutil
import subprocess
from contextlib import contextmanager
from importlib.util import find_spec

OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def chromium():
    """A browser that starts, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0:
            return path
    return None


CHROMIUM = chromium()
REASON = (
    "there is no chromium to open the page with"
    if CHROMIUM is None
    else "playwright is not installed: pip install playwright"
    if find_spec("playwright") is None
    else ""
)


@contextmanager
def browser():
    """Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield found
        found.close()


@contextmanager
def opened(found, path, **options):
    """A page, and what it says or asks for: console messages, errors, dialogs, requests but for its file."""
    context = found.new_context(**options)
    page, said = context.new_page(), []
    page.set_default_timeout(20_000)
    page.on("console", lambda message: said.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda asked: said.append(asked.url) if asked.url != path.as_uri() else None)
    page.goto(path.as_uri())
    yield page, said
    context.close()
