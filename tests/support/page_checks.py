"""A strict reader of pages: what tests assert about any HTML that we write."""

import base64
import hashlib
import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "footer"),
    *("h1", "h2", "h3", "p", "a", "b", "i", "em", "span", "bdi", "code", "pre", "var", "sub", "sup"),
    *("ul", "ol", "li", "dl", "dt", "dd", "div", "figure", "figcaption", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "desc", "line", "polyline", "circle", "rect", "text"),
}


class Page(HTMLParser):
    """The elements of a page; raises where one is not closed, or is none that we write."""

    def __init__(self, text, scripts=False):
        super().__init__(convert_charrefs=True)
        self.allowed = ALLOWED | {"script"} if scripts else ALLOWED
        self.open, self.elements, self.words, self.scripts = [], [], {}, []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        assert tag in self.allowed, tag
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), attrs
        assert not any(name.startswith("on") or name in ("style", "src", "srcset") for name in names), attrs
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        self.words.setdefault(self.open[-1] if self.open else "", []).append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data[:80]}")

    def all(self, tag, **attributes):
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [a for t, a, _ in self.elements if t == tag and wanted.items() <= a.items()]


def check_page(text, *, explored=False):
    """Everything that holds for each of our pages; the page, read. One to explore has data and a script."""
    assert text.startswith("<!DOCTYPE html>\n")
    text.encode("utf-8")
    page = Page(text, explored)
    assert [a.get("lang") for a in page.all("html")] == ["en"]
    assert [above for t, _, above in page.elements if t == "title" and above[-1] == "head"] == [
        ("html", "head")
    ]
    _check_policy(page, text)
    _check_scripts(page, explored)
    _check_references(page, text)
    return page


def _check_policy(page, text):
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy
    assert len(page.all("style")) == 1
    first = [t for t, a, _ in page.elements if t in ("meta", "style", "title")]
    assert first[:2] == ["meta", "meta"]  # character set, then the policy, before anything it is about
    assert not re.search(r"url\(|@import|expression\(", style)


def _check_scripts(page, explored):
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    scripts = page.scripts
    assert len(scripts) == (2 if explored else 0)
    if not explored:
        assert "script-src" not in policy
        return
    inert, run = page.all("script")
    assert inert == {"type": "application/json", "id": "explore-data"}
    assert run == {}
    assert scripts[0].isascii()
    assert not set("<>&") & set(scripts[0])
    digest = base64.b64encode(hashlib.sha256(scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "fetch("):
        assert way not in scripts[1]


def _check_references(page, text):
    ids = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(set(ids)) == len(ids)
    for a in page.all("a"):
        assert a["href"].startswith("#")
        assert a["href"][1:] in ids
    for svg in page.all("svg"):
        assert svg["role"] == "img"
        assert set(svg["aria-labelledby"].split()) <= set(ids)
        assert re.fullmatch(r"0 0 \d+ \d+", svg["viewbox"])
    for name in ("href", "xlink:href", "action", "data", "poster", "background", "cite"):
        found = [a[name] for _, a, _ in page.elements if name in a]
        assert all(value.startswith("#") for value in found), found
