"""What the site promises a reader: complete tables, questions as titles, no page that is out of reach."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC, NuSVC

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FROM_SKLEARN = (DOCS / "guide" / "from-sklearn.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+\.md)")
CLASSES = {SVC: "`SVC` and `NuSVC`", NuSVC: "`SVC` and `NuSVC`", LinearSVC: "`LinearSVC`"}


def names_in(heading):
    """The names in the first column of the table under a heading of the page."""
    section = FROM_SKLEARN.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
    return {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("model", CLASSES, ids=lambda c: c.__name__)
def test_every_parameter_of_scikit_learn_is_in_the_table(model):
    missing = set(model().get_params()) - names_in(f"Parameters of {CLASSES[model]}")
    assert not missing


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of probability=True, whose attributes the table has
@pytest.mark.parametrize("model", CLASSES, ids=lambda c: c.__name__)
def test_every_fitted_attribute_of_scikit_learn_is_in_the_table(model):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.repeat([0, 1, 2], 20)
    kernel = {} if model is LinearSVC else {"kernel": "linear", "probability": True}
    fitted = model(**kernel).fit(X, y)
    attributes = {name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")}
    assert not attributes - names_in(f"Attributes of {CLASSES[model]}")


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_gallery_asks_questions():
    assert len(EXAMPLES) >= 15
    for example in EXAMPLES:
        title = example.read_text(encoding="utf-8").splitlines()[1]
        assert title.endswith("?"), example.name


def test_every_page_can_be_reached_from_the_first():
    pages = {path.resolve() for path in DOCS.rglob("*.md") if path.parent.name != "api"}
    reached, todo = set(), [(DOCS / "index.md").resolve()]
    while todo:
        page = todo.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        todo += [(page.parent / link).resolve() for link in links]
    assert not pages - reached


@pytest.mark.parametrize(
    ("link", "word"),
    [
        ("guide/budget.md", "50 support vectors"),
        ("guide/scaling-up.md", "larger than memory"),
        ("guide/model-files.md", "ONNX"),
        ("adding/kernel.md", "kernel"),
        ("theory/bounds.md", "proofs"),
        ("about.md#cite", "Cite"),
    ],
)
def test_the_first_page_leads_to_what_new_readers_look_for(link, word):
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"\[[^\]]*{word}[^\]]*\]\({re.escape(link)}\)", text)


def test_links_that_leave_the_documentation_are_mended_on_the_site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import stage

    sys.modules.pop("stage")
    source = DOCS / "adding" / "index.md"
    text = "[design](../design.md) [house](../../CONTRIBUTING.md#recipes) [core](../../cpp/tests/main.cpp)"
    mended = stage.with_links(text, source, "adding/index.md", tmp_path)
    assert mended == "[design](../design.md) [house](../contributing.md#recipes) core"
    assert stage.linked_pages("[a](a.md) [b](../b.md) [c](c.md#x) [a](a.md) ![p](p.png)") == ["a", "c"]
