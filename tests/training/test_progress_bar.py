"""The line about a training: pictures that replace one another in a notebook, a line on a terminal."""

import sys
import types

import numpy as np
import pytest

from maxmargin.training import ProgressBar, shown_bar, train
from maxmargin.training.progress_bar import bar


def table(n=400):
    rng = np.random.default_rng(0)
    width, height = rng.normal(size=(2, n))
    kind = np.where(width * height > 0, "same", "other")
    return {"width": width, "height": height, "kind": kind}


@pytest.fixture
def notebook(monkeypatch):
    """What a Jupyter kernel is asked to show: (a new place or an update, text, HTML)."""
    shown = []

    def bundle(what):
        return what if isinstance(what, dict) else what._repr_mimebundle_((), ())

    class Place:
        def update(self, what, raw=False):
            shown.append(("update", bundle(what)))

    def display(what, display_id):
        assert display_id
        shown.append(("new", bundle(what)))
        return Place()

    display_module = types.SimpleNamespace(display=display)
    shell = types.SimpleNamespace(kernel=object())
    found = types.SimpleNamespace(get_ipython=lambda: shell, display=display_module)
    monkeypatch.setitem(sys.modules, "IPython", found)
    monkeypatch.setitem(sys.modules, "IPython.display", display_module)
    monkeypatch.setattr(bar, "SECONDS_BETWEEN_PICTURES", 0.0)
    return shown


def test_a_notebook_shows_one_line_that_changes_and_goes(notebook, capsys):
    with ProgressBar() as shown:
        train(table(), target="kind", model="sparse-kernel", parameters={"budget": 8}, callback=shown)
    assert [kind for kind, _ in notebook] == ["new"] + ["update"] * (len(notebook) - 1)
    texts = [bundle["text/plain"] for _, bundle in notebook]
    assert any("training for validation" in text and "8 support vectors, gap" in text for text in texts)
    assert any("training on all rows" in text for text in texts)
    assert all("left:" in text and "0:00:00" not in text for text in texts[1:-1])
    assert any("<pre" in bundle["text/html"] for _, bundle in notebook)
    assert notebook[-1][1] == {"text/plain": "", "text/html": ""}
    assert capsys.readouterr() == ("", "")


def test_a_training_that_fails_takes_its_line_away(notebook):
    with pytest.raises(ValueError, match="no column"), ProgressBar() as shown:
        train(table(), target="absent", callback=shown)
    assert notebook[-1][1] == {"text/plain": "", "text/html": ""}


def test_nothing_is_shown_to_nobody_and_no_bit_changes(capsys):
    given = {"target": "kind", "model": "sparse-kernel", "parameters": {"budget": 8}}
    with ProgressBar() as shown:
        heard = train(table(), callback=shown, **given)
    shown("an event after the end is not an error")
    assert capsys.readouterr() == ("", "")
    assert heard.record["fingerprint"] == train(table(), **given).record["fingerprint"]


def test_a_terminal_shows_the_line(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with shown_bar() as line:
        line.start("training")
        line.tell("training", 0.5, 1.0, "gap 1.0e-02")
    said = capsys.readouterr()
    assert "training" in said.err
    assert said.out == ""


def test_without_rich_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"maxmargin\[cli\]"), ProgressBar():
        pass
