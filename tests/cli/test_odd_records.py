"""Texts and options of groups of columns: odd records, names with commas."""

import pytest

from maxmargin.cli.frame.reading import listed
from maxmargin.cli.frame.texts import weights_text


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (
            [{"columns": ["a", "b"], "weight": 0.25}, {"columns": ["c"], "weight": 0.75}],
            "0.25 (a, b); 0.75 (c)",
        ),
        (3, None),
        ("ab", None),
        ({"weight": 1}, None),
        ([{}], "– (–)"),
        ([1, {"columns": ["a"], "weight": 1}], "1.00 (a)"),
        ([{"weight": "x"}], "– (–)"),
        ([{"columns": [[1], None], "weight": 10**400}], "– ([1], None)"),
        ([{"columns": 3, "weight": float("nan")}], "– (–)"),
        (None, None),
    ],
)
def test_weights_of_odd_records_are_shown_as_far_as_they_can_be(groups, said):
    assert weights_text(groups) == said


def test_names_with_commas_are_in_quotes(tmp_path):
    assert listed('"height, cm",age', "--column-group", quoted=True) == ["height, cm", "age"]
    assert listed('age, "height, cm"', "--column-group", quoted=True) == ["age", "height, cm"]
    assert listed('"said ""so""",b', "--column-group", quoted=True) == ['said "so"', "b"]
    (tmp_path / "names.txt").write_text('"height, cm",age\n\nwidth\n')
    assert listed(f"@{tmp_path / 'names.txt'}", "--column-group", quoted=True) == [
        "height, cm",
        "age",
        "width",
    ]
    assert listed('"a,b"', "--drop") == ['"a', 'b"']  # other lists have no quotes
