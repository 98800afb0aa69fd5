"""The tree that Sphinx builds from: the pages of the checkout, and what only the site needs.

python docs/stage.py build/docs/source

Pages are Markdown that reads well on a code host. Here links that leave docs/ are mended, links of an index
page become its part of the navigation, and API pages get the docstrings.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tests"))
from support.api_pages import CONSTANTS, FUNCTIONS, MODULES, first_sentence, public_names  # noqa: E402

import maxmargin  # noqa: E402

# Pages outside docs/, and where they stand on the site.
MOVED = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "benchmarks/results/README.md": "results.md",
} | {
    path.relative_to(ROOT).as_posix(): f"papers/{path.parent.name}.md"
    for path in sorted((ROOT / "benchmarks" / "papers").glob("*/README.md"))
}
# The parts of the site, in the order of the navigation. Gallery pages are made by the build.
PARTS = ["guide/index", "gallery/index", "theory/index", "adding/index", "api/index", "about"]
SPEED_TABLE = re.compile(r"<!-- speed table.*?-->\n(.*?)<!-- end of the speed table -->\n", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
# What scikit-learn adds to a class by itself.
NOT_OURS = ["get_metadata_routing", "get_params", "set_params", "set_output"]
NOT_OURS += [f"set_{name}_request" for name in ("fit", "score", "partial_fit", "transform", "predict")]


def site_path(source: Path) -> str | None:
    """Where a file of the checkout stands on the site, if it does."""
    name = source.relative_to(ROOT).as_posix()
    if source.is_relative_to(DOCS):
        return source.relative_to(DOCS).as_posix()
    return MOVED.get(name)


def with_links(text: str, source: Path, page: str, target: Path) -> str:
    """The text with links to pages of the site; pictures come along, other files lose their link."""

    def mended(match: re.Match[str]) -> str:
        mark, label, link, anchor = match.groups()
        file = (source.parent / link).resolve()
        place = site_path(file) if file.is_relative_to(ROOT) else None
        if place is None and mark:
            place = f"pictures/{file.parent.parent.name}-{file.name}"
            (target / "pictures").mkdir(exist_ok=True)
            shutil.copy(file, target / place)
        if place is None:
            return label
        return f"{mark}[{label}]({os.path.relpath(place, Path(page).parent)}{anchor or ''})"

    return LINK.sub(mended, text)


def toctree(entries: list[str]) -> str:
    """Navigation that the page itself does not show."""
    return "\n".join(["", "```{toctree}", ":hidden:", "", *entries, "```", ""])


def linked_pages(text: str) -> list[str]:
    """The pages of its own folder, or below, that an index page links to, in their order."""
    pages = [m[3].removesuffix(".md") for m in LINK.finditer(text) if not m[1] and m[3].endswith(".md")]
    return list(dict.fromkeys(page for page in pages if not page.startswith("..")))


def automatic(kind: str, name: str) -> list[str]:
    """The directive that shows a docstring."""
    options = {
        "class": [
            "   :members:",
            "   :inherited-members: BaseEstimator, ClassifierMixin, TransformerMixin, Protocol, ValueError",
            f"   :exclude-members: {', '.join(NOT_OURS)}",
        ],
    }
    return [f".. auto{kind}:: {name}", *options.get(kind, []), ""]


def reference(title: str, module: str, names: list[str], opening: str = "") -> str:
    """A page of docstrings: what a module exports, or one name."""
    home = sys.modules[module]
    lines = [f"# {title}", "", opening, "", "```{eval-rst}", f".. currentmodule:: {module}", ""]
    for name in names:
        value = getattr(home, name)
        if not callable(value):
            lines += [f".. py:data:: {name}", "", f"   {CONSTANTS.get(name, '').replace('`', '``')}", ""]
        else:
            lines += automatic("class" if isinstance(value, type) else "function", name)
    return "\n".join([*lines, "```", ""])


def api_pages() -> dict[str, str]:
    """Every page of the reference by its path: one an estimator, one for the functions, one a module."""
    estimators = [n for n in maxmargin.__all__ if n not in (*MODULES, *FUNCTIONS, "__version__")]
    for module in MODULES:
        getattr(maxmargin, module)
    pages = {f"api/{name}.md": reference(name, "maxmargin", [name]) for name in estimators}
    pages["api/functions.md"] = reference("Functions", "maxmargin", FUNCTIONS)
    for module in MODULES:
        home = f"maxmargin.{module}"
        pages[f"api/{module}.md"] = reference(
            home, home, public_names(module), first_sentence(sys.modules[home])
        )
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    index = re.sub(rf"^- `({'|'.join(estimators)})`:", r"- [`\1`](\1.md):", index, flags=re.MULTILINE)
    index = re.sub(rf"^- `({'|'.join(FUNCTIONS)})`:", r"- [`\1`](functions.md):", index, flags=re.MULTILINE)
    pages["api/index.md"] = index + toctree(linked_pages(index))
    return pages


def pages() -> dict[str, Path]:
    """Every page of the site that is written by hand, with its file."""
    own = {p.relative_to(DOCS).as_posix(): p for p in DOCS.rglob("*.md") if p.parent.name != "api"}
    return own | {page: ROOT / source for source, page in MOVED.items()}


def stage(target: Path) -> None:
    """Write the whole tree anew."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("api", "stage.py", "check.py", "__pycache__"))
    examples = target.parent / "examples"  # a copy: an example may write files
    shutil.rmtree(examples, ignore_errors=True)
    shutil.copytree(ROOT / "examples" / "gallery", examples)
    table = SPEED_TABLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    written = api_pages()
    for page, source in pages().items():
        text = with_links(source.read_text(encoding="utf-8"), source, page, target)
        text = text.replace("<!-- speed table of README.md -->\n", table[1] if table else "")
        if page == "index.md":
            text += toctree(PARTS)
        elif page.endswith("index.md") or page == "about.md":
            text += toctree(linked_pages(text))
        written[page] = text
    for page, text in written.items():
        (target / page).parent.mkdir(parents=True, exist_ok=True)
        (target / page).write_text(text, encoding="utf-8")
    stage_mathjax(target / "static" / "mathjax")


def stage_mathjax(target: Path) -> None:
    """The part of MathJax that sets TeX, and its fonts: 1.5 MB of the package's 6."""
    package = find_spec("sphinx-mathjax-offline")
    assert package is not None
    assert package.origin is not None
    source = Path(package.origin).parent / "static" / "mathjax"
    fonts = Path("output", "chtml", "fonts", "woff-v2")
    shutil.copytree(source / fonts, target / fonts)
    shutil.copy(source / "tex-chtml.js", target)


if __name__ == "__main__":
    stage(Path(sys.argv[1]).resolve())
