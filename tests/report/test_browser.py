"""The page in a browser: Chromium shows it without a complaint, at the width of a desk and of a phone."""

import json
import re
import subprocess

import pytest
from support.browser import CHROMIUM
from support.report_samples import fitted, record, source, table, written

from maxmargin.report import build, page
from maxmargin.report.html.page import SECTIONS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to open the page with")

# A frame makes any width possible; headless windows are never narrower than 500 pixels. The copy of the page
# that is measured has no policy, since the frame's own script reads its size.
FRAME = """<!DOCTYPE html><html><body style="margin:0">{frames}
<script>
addEventListener("load", () => setTimeout(() => {{
  document.title = JSON.stringify([...document.querySelectorAll("iframe")].map(frame => {{
    const inner = frame.contentDocument, limit = frame.clientWidth + 0.5;
    const wide = [...inner.querySelectorAll("body *")].filter(e => !e.closest(".box") || e.matches(".box"))
      .filter(e => e.getBoundingClientRect().right > limit).map(e => e.tagName + "." + e.className);
    return [inner.documentElement.scrollWidth, wide.slice(0, 5)];
  }}));
}}, 100));
</script></body></html>"""
WIDTHS = (390, 1100)  # of a phone and of a desk


def browse(folder, url, *arguments):
    """What Chromium prints, and what it complains about."""
    command = [
        *(
            CHROMIUM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-extensions",
        ),
        *("--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"),
        *("--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=2000"),
        *(*arguments, url.as_uri()),
    ]
    run = subprocess.run(command, capture_output=True, timeout=120, check=True)
    said = run.stderr.decode("utf-8", "replace")
    return run.stdout.decode("utf-8"), [line for line in said.splitlines() if "CONSOLE" in line]


FOR_SOME = {"thresholds", "drift", "learning"}  # for two classes, a known training file, where asked for


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    classes = ["<b>bold</b>", "plain", "字字字 " * 20, "w" * 300]
    train = written(folder, "train.csv", table(classes=classes))
    test = written(folder, "test.csv", table(classes=classes, seed=1))
    text = page(
        build(fitted(train, validation_fraction=0.2), record(), source(test), command="maxmargin " * 30)
    )
    return written(folder, "report.html", text)


def test_the_page_opens_whole_and_without_a_complaint(html, tmp_path):
    picture = tmp_path / "page.png"
    shot = (f"--screenshot={picture}", "--window-size=1200,1600")
    dom, complaints = browse(tmp_path, html, "--dump-dom", *shot)
    assert not complaints
    for_all = [anchor for anchor, _, _ in SECTIONS if anchor not in FOR_SOME]
    assert re.findall(r'<section id="(\w+)"', dom) == for_all
    assert dom.count("<svg") == html.read_text(encoding="utf-8").count("<svg") == 10
    assert "<script" not in dom
    assert "<b>bold" not in dom
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 30_000  # not an empty sheet


def test_the_policy_stops_what_does_not_belong(html, tmp_path):
    strange = html.read_text(encoding="utf-8").replace(
        "<main>", "<main><script>document.title='run'</script>"
    )
    strange = strange.replace("<h1>", '<h1 style="color:red">')
    dom, complaints = browse(tmp_path, written(tmp_path, "strange.html", strange), "--dump-dom")
    assert "<title>run" not in dom
    assert len(complaints) >= 2


def test_nothing_is_wider_than_the_screen(html, tmp_path):
    text = re.sub(r"<meta http-equiv[^>]*>", "", html.read_text(encoding="utf-8"))
    assert "Content-Security-Policy" not in text
    quoted = text.replace("&", "&amp;").replace('"', "&quot;")
    frames = "".join(
        f'<iframe srcdoc="{quoted}" style="border:0;width:{w}px;height:900px"></iframe>' for w in WIDTHS
    )
    dom, _ = browse(tmp_path, written(tmp_path, "frame.html", FRAME.format(frames=frames)), "--dump-dom")
    (found,) = re.findall(r"<title>(\[.*?\])</title>", dom.split("<iframe")[0])
    assert json.loads(found) == [[width, []] for width in WIDTHS]
