"""Several files read as one: rows in order, kinds that all files agree on, what is refused."""

import numpy as np
import pytest

from maxmargin.io import DataFormatError, open_source, read_all


def written(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return [folder / f"{name}.csv" for name in files]


def test_rows_of_several_files_are_those_of_one(tmp_path):
    a, b, one = written(tmp_path, a="x,y\n1,u\n2,v\n", b="x,y\n3,u\n", one="x,y\n1,u\n2,v\n3,u\n")
    for given in ([a, b], str(tmp_path / "[ab].csv")):
        source = open_source(given, target="y")
        together, whole = read_all(source), read_all(open_source(one, target="y"))
        np.testing.assert_array_equal(together.features["x"], whole.features["x"])
        np.testing.assert_array_equal(together.target, whole.target)
        assert [block.first_row for block in source.blocks()] == [0, 2]


def test_a_column_of_words_in_one_file_is_one_in_all(tmp_path):
    files = written(tmp_path, a="x,z,y\n1,4,u\n2,5,v\n", b="x,z,y\nred,6,u\n1,7,v\n")
    source = open_source(files, target="y")
    assert [(c.name, c.kind) for c in source.columns] == [("x", "words"), ("z", "number")]
    words = read_all(source).features["x"]
    assert [words.values[code] for code in words.codes] == ["1", "2", "red", "1"]


def test_sparse_rows_are_as_wide_as_the_widest_file(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n")
    (tmp_path / "b.svm").write_text("-1 5:1\n")
    block = read_all(open_source([tmp_path / "a.svm", tmp_path / "b.svm"]))
    assert block.features.shape == (2, 5)


def test_what_is_missing_or_differs_is_named(tmp_path):
    files = written(tmp_path, a="x,y\n1,u\n", b="w,y\n1,u\n")
    with pytest.raises(DataFormatError, match=r"b.csv.*columns are not those of .*a.csv"):
        open_source(files, target="y")
    with pytest.raises(FileNotFoundError, match=r"no file matches '.*none\*.csv'"):
        open_source(str(tmp_path / "none*.csv"))
    with pytest.raises(FileNotFoundError, match=r"gone.csv"):
        open_source([files[0], tmp_path / "gone.csv"], target="y")
