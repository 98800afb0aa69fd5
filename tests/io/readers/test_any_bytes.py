"""Arbitrary bytes are read or refused, in the same way whatever the pieces and the threads."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from support.text_files import in_pieces, parsed_by, written

from maxmargin.io import DataFormatError, open_source

CSV = 'a,"b ""c""",y\n1.5,"x,\ny",k\n-2e3, ?,l\r\n\n"7",é,k\n'.encode()
LIBSVM = b"+1 1:0.5 3:-2e3 # c\n\n-1 2:1\r\n+1\n"


@st.composite
def mutated(draw, text):
    """A text with bytes changed, inserted, removed and repeated."""
    text = bytearray(text)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        piece = draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b",", b"\r", b"\n", b"1e999", b"\xef\xbb\xbf"])
        )
        text[at : at + draw(st.integers(0, 3))] = piece
    return bytes(text)


def outcome(path, n_bytes, n_rows, **options):
    """Everything in a file, or what is wrong with it."""
    with in_pieces(n_bytes):
        try:
            source = open_source(path, **options)
            blocks = list(source.blocks(n_rows))
        except DataFormatError as error:
            return str(error)
    if source.columns is None:
        rows = [(b.features.toarray().tolist(), b.target.tolist()) for b in blocks]
    else:
        rows = [
            (
                [
                    c.tolist() if isinstance(c, np.ndarray) else (c.codes.tolist(), c.values)
                    for c in b.features.values()
                ],
                None if b.target is None else b.target.tolist(),
            )
            for b in blocks
        ]
    return repr((source.options(), rows))


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [("f.csv", CSV, {"target": -1}), ("f.svm", LIBSVM, {})],
    ids=["csv", "libsvm"],
)
def test_pieces_do_not_change_the_result(tmp_path_factory, name, text, options):
    @settings(max_examples=150)
    @given(
        content=mutated(text) | st.binary(max_size=30), n_bytes=st.integers(1, 40), n_rows=st.integers(1, 3)
    )
    def check(content, n_bytes, n_rows):
        path = written(tmp_path_factory.getbasetemp(), content, name)
        assert outcome(path, n_bytes, n_rows, **options) == outcome(path, None, n_rows, **options)

    check()
    path = written(tmp_path_factory.getbasetemp(), text, name)
    assert outcome(path, 1, 2, **options).startswith("({'format'")


@settings(max_examples=200)
@given(
    content=mutated(3 * CSV[len(b'a,"b ""c""",y\n') :]) | mutated(CSV),
    n_threads=st.integers(2, 5),
    part_bytes=st.integers(1, 12),
    n_rows=st.integers(1, 9),
)
def test_threads_do_not_change_the_result(tmp_path_factory, content, n_threads, part_bytes, n_rows):
    text = content if content.startswith(b"a,") else b"a,b,y\n" + content
    path = written(tmp_path_factory.getbasetemp(), text, "threads.csv")
    alone = outcome(path, None, n_rows, target=-1)
    with parsed_by(n_threads, part_bytes):
        assert outcome(path, None, n_rows, target=-1) == alone


@pytest.mark.parametrize(
    "row", ["{i},w{k},{v!r}", '{i},"w{k}\n, ""{k}""",{v!r}', " {i} , w{k},\n\n{i},w{k},{v!r}"]
)
def test_many_rows_by_several_threads(tmp_path, row):
    rng = np.random.default_rng(0)
    lines = [row.format(i=i, k=i * i % 97, v=v) for i, v in enumerate(rng.standard_normal(30_000).tolist())]
    lines[25_000] = "1,2,inf"
    path = written(tmp_path, "\n".join(["a,b,c", *lines, ""]), "many.csv")
    declared = {"kinds": {"c": "words"}}
    with parsed_by(1):
        alone, refused = outcome(path, None, 7_000, **declared), outcome(path, None, 7_000)
    assert "w96" in alone
    assert "'inf' is not a finite number" in refused
    for n_threads in (2, 3):
        with parsed_by(n_threads, 1 << 12):
            assert outcome(path, None, 7_000, **declared) == alone
            assert outcome(path, None, 7_000) == refused
