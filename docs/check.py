"""The built site: internal links lead somewhere, nothing is loaded from elsewhere, the search works.

python docs/check.py build/docs/html
"""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
SEARCHED = ["budget", "certificate", "onnx", "kernelsvc", "dask", "gamma"]


class Page(HTMLParser):
    """What a page links to, loads, and can be linked to by."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for each tag."""
        found = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        if tag == "a" and (href := found.get("href")):
            self.links.append(href)
        address = found.get(LOADED.get(tag, ""))
        if address and found.get("rel") != "canonical":
            self.loaded.append(address)


def problems(site: Path) -> list[str]:
    """Every broken link, foreign address and page that the search would not find."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name} loads {a}" for a in page.loaded if urlsplit(a).scheme not in ("", "data")]
        for link in page.links + [a for a in page.loaded if not a.startswith("data:")]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists():
                found.append(f"{name} links to {link}, which is not there")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{name} links to {link}, but that page has no such place")
    return found + unsearchable(site, pages)


def unsearchable(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Words and pages that the index of the search has not."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    words = {word.lower() for word in (*index["terms"], *index["titleterms"])}
    known = {f"{name}.html" for name in index["docnames"]}
    built = {path.relative_to(site).as_posix() for path in pages}
    missing = built - known - {"genindex.html", "py-modindex.html", "search.html"}
    return [f"the search does not know {page}" for page in sorted(missing)] + [
        f"the search does not find {word}"
        for word in SEARCHED
        if not any(w.startswith(word[:5]) for w in words)
    ]


if __name__ == "__main__":
    site = Path(sys.argv[1]).resolve()
    if found := problems(site):
        sys.exit("\n".join(found))
    n_pages = len(list(site.rglob("*.html")))
    print(f"{n_pages} pages, every internal link leads somewhere, nothing is loaded from elsewhere")
