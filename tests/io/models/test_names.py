"""The names of the file format are its own: what is private in the package can be renamed."""

import pytest
from support.saved_models import data

import maxmargin as mm
from maxmargin.io import load, save
from maxmargin.io.models import names
from maxmargin.io.models.tree import KINDS


def test_every_kind_of_a_file_has_a_class_of_its_own():
    assert set(names.CLASSES) == set(KINDS)
    classes = {names.class_of(kind) for kind in KINDS}
    assert len(classes) == len(KINDS)
    assert all(isinstance(found, type) for found in classes)


@pytest.mark.parametrize("kind", KINDS)
def test_every_private_attribute_of_a_file_is_in_the_table(kind):
    private = {name for name in KINDS[kind].attributes if name.startswith("_")}
    assert private <= set(names.ATTRIBUTES.get(kind, {}))


def test_renaming_a_private_attribute_changes_no_file(tmp_path, monkeypatch):
    model = mm.LinearSVC(random_state=0).fit(*data())
    attribute = names.attribute_of("LinearSVC", "_seed")
    save(model, tmp_path / "before.mm")
    monkeypatch.setitem(names.ATTRIBUTES, "LinearSVC", {**names.ATTRIBUTES["LinearSVC"], "_seed": "_renamed"})
    model._renamed = vars(model).pop(attribute)
    save(model, tmp_path / "after.mm")
    assert (tmp_path / "after.mm").read_bytes() == (tmp_path / "before.mm").read_bytes()
    assert load(tmp_path / "before.mm")._renamed == model._renamed
