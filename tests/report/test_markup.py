"""Markup that escapes by construction: no text of a data set becomes an element or an attribute."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from support.page_checks import Page, check_page
from support.report_samples import NASTY

from maxmargin.report.html.markup import datum, document, facts, formula, node, table, values_list
from maxmargin.report.html.page import STYLE
from maxmargin.report.html.text import shortened, visible

TEXT = st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec=None)), st.text("<>&\"'/-!=a\x00 ]"))


def shown(element):
    return ET.tostring(element, encoding="unicode", method="html")


@given(TEXT, TEXT)
def test_any_text_is_text_and_any_attribute_an_attribute(text, title):
    page = check_page(document(text, STYLE, [node("p", text, node("b", title), text, title=title)]))
    assert [t for t, _, above in page.elements if "body" in above] == ["p", "b"]
    assert "".join(page.words.get("p", [])) == 2 * visible(text)
    assert "".join(page.words.get("b", [])) == visible(title)
    assert page.all("p")[0]["title"] == visible(title)
    assert "".join(page.words.get("title", [])) == visible(text)


@given(TEXT)
def test_words_of_data_are_set_apart_and_bounded(text):
    page = Page(shown(datum(text)))
    assert [t for t, _, _ in page.elements] == ["bdi"]
    short, whole = shortened(text)
    assert "".join(page.words.get("bdi", [])) == short
    assert page.all("bdi")[0].get("title") == whole


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_tables_have_a_cell_for_each_value_whatever_it_says(words):
    page = Page(shown(table(words, [[datum(word) for word in words]], caption=words[0])))
    assert len(page.all("td")) + len(page.all("th", scope="row")) == len(words)
    assert len(page.all("th", scope="col")) == len(words)
    page = Page(shown(facts([(word, datum(word)) for word in words])))
    assert len(page.all("dt")) == len(page.all("dd")) == len(words)


def test_long_lists_of_values_say_how_many_are_left_out():
    page = Page(shown(values_list({f"x{j}": float(j) for j in range(100)}, 24)))
    assert len(page.all("em")) == 24
    assert "and 76 more" in "".join(page.words["span"])


def test_formulas_lower_raise_and_slant():
    text = shown(node("p", formula("Σ_i a_{jt} max(0, 1 − m)^2")))
    assert text == (
        "<p>Σ<sub><var>i</var></sub> <var>a</var><sub><var>jt</var></sub> max(0, 1 − <var>m</var>)"
        "<sup>2</sup></p>"
    )


def test_a_policy_by_which_nothing_but_our_style_counts():
    text = document("t", STYLE, [node("p", "x")])
    check_page(text)
    changed = text.replace("--paper: #fdfdfb", "--paper: #000000")
    assert changed != text
    try:
        check_page(changed)
    except AssertionError:
        return
    raise AssertionError("a changed style has the hash of the old one")
