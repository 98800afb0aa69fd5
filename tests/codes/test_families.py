"""Families of codes: as many columns as documented, as far apart as they can be, one seed one code."""

from functools import cache
from math import ceil, comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from maxmargin import KernelPegasos, LeastSquaresClassifier, LinearSVC
from maxmargin.codes import CODES, Code, code_from_name, distances
from maxmargin.codes.columns import all_columns, n_existing
from maxmargin.decoders import DECODERS, FIXED, decision_values, predicted_classes

RANDOM = {"dense-random": Code.dense_random, "sparse-random": Code.sparse_random, "designed": Code.designed}
made = cache(code_from_name)
every_random_family = pytest.mark.parametrize("family", RANDOM.values(), ids=RANDOM.keys())


def naive_draws(n_classes, n_columns, zeros, n_draws, rng):
    """Minimum distances of independent draws, entry by entry."""
    p = [1 / 4, 1 / 2, 1 / 4] if zeros else [1 / 2, 0, 1 / 2]
    for _ in range(n_draws):
        M = rng.choice([-1, 0, 1], p=p, size=(n_classes, n_columns))
        D = (n_columns - M @ M.T) / 2
        yield D[~np.eye(n_classes, dtype=bool)].min()


@pytest.mark.parametrize("n_classes", range(3, 13))
def test_sizes_and_distances_are_those_of_the_formulas(n_classes):
    G = n_classes
    most, most_with_zeros = 2 ** (G - 1) - 1, (3**G - 2 ** (G + 1) + 1) // 2
    exhaustive = Code.exhaustive(G)
    assert (exhaustive.n_columns, exhaustive.minimum_distance) == (most, 2 ** (G - 2))
    dense, sparse, designed = (family(G) for family in RANDOM.values())
    assert dense.n_columns == designed.n_columns == min(ceil(10 * log2(G)), most)
    assert sparse.n_columns == min(ceil(15 * log2(G)), most_with_zeros)
    assert not (dense.matrix == 0).any()
    assert not (designed.matrix == 0).any()
    assert (sparse.matrix == 0).any()
    for code in (exhaustive, dense, sparse, designed):
        assert code.row_margins().min() > 0
    assert designed.minimum_distance >= dense.minimum_distance
    for code in (dense, sparse):
        draws = naive_draws(G, code.n_columns, code is sparse, 100, np.random.default_rng(G))
        assert code.minimum_distance >= max(draws) - (code is sparse)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6, 7])
def test_as_many_columns_exist_as_counted(n_classes, zeros):
    columns = all_columns(n_classes, zeros)
    assert len(columns) == n_existing(n_classes, zeros)
    assert len({tuple(c) for s in (1, -1) for c in (s * columns).tolist()}) == 2 * len(columns)
    assert all({-1, 1} <= set(c) for c in columns.tolist())


def test_half_of_the_entries_of_a_sparse_code_are_zero():
    for n_classes in (10, 40):
        code = Code.sparse_random(n_classes, 120)
        assert (code.matrix == 0).mean() == pytest.approx(0.5, abs=0.06)
        assert (code.matrix == 1).mean() == pytest.approx(0.25, abs=0.06)


@pytest.mark.parametrize("name", CODES)
def test_a_hundred_classes_work(name):
    if name == "exhaustive":
        with pytest.raises(ValueError, match=r"limited to 12 classes; got 100\. Use Code\.designed"):
            Code.exhaustive(100)
        return
    code = code_from_name(name, 100)
    assert code.n_classes == 100
    assert code.row_margins().min() > 0
    y = np.arange(100)
    for decoder in FIXED:
        scores = decision_values(code.targets(y).astype(float), code, decoder)
        assert_array_equal(predicted_classes(scores), y)


@pytest.mark.parametrize("name", CODES)
@given(n_classes=st.integers(2, 12), seed=st.integers(0, 1), data=st.data())
@settings(max_examples=10)
def test_perfect_columns_are_decoded_and_permuted_classes_permute_the_answers(name, n_classes, seed, data):
    code = made(name, n_classes, seed)
    y = np.arange(n_classes)
    order = np.array(data.draw(st.permutations(range(n_classes))))
    permuted = Code(code.matrix[order], "permuted")
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=code.matrix.shape)
    for decoder in FIXED:
        # outputs for classes that a column was not trained on
        elsewhere = signs if decoder.name == "hamming" else 0.0
        F = np.where(code.matrix == 0, elsewhere, code.matrix)
        assert_array_equal(predicted_classes(decision_values(F, code, decoder)), y)
        assert_array_equal(order[predicted_classes(decision_values(F, permuted, decoder))], y)


@pytest.mark.parametrize("name", CODES)
@given(n_classes=st.integers(3, 12), data=st.data())
@settings(max_examples=20)
def test_hamming_decoding_corrects_what_the_margins_promise(name, n_classes, data):
    code = made(name, n_classes, 0)
    y = data.draw(st.integers(0, n_classes - 1))
    r = code.row_margins()[y] if (code.matrix == 0).any() else code.minimum_distance
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    row = code.matrix[y]
    f = np.where(row == 0, rng.choice([-1, 1], size=len(row)), row) * rng.uniform(0.1, 10, len(row))
    f[rng.permutation(np.flatnonzero(row))[: ceil(r / 2) - 1]] *= -1
    assert np.argmax(DECODERS["hamming"].scores(f[None], code)[0]) == y


@every_random_family
@pytest.mark.parametrize("n_classes", [6, 10, 20])
def test_one_seed_one_code(family, n_classes):
    first, again, other = (family(n_classes, 30, random_state=seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other
    assert family(n_classes, 30, random_state=np.random.RandomState(3)) == first


@every_random_family
def test_the_impossible_is_refused_with_the_limit(family):
    with pytest.raises(ValueError, match=r"for 9 classes needs at least 4 columns: .*; got n_columns=3\."):
        family(9, 3)
    most = 25 if family == Code.sparse_random else 7
    assert family(4, most).n_columns == most
    with pytest.raises(
        ValueError, match=rf"for 4 classes has at most {most} columns, .*n_columns={most + 1}"
    ):
        family(4, most + 1)
    with pytest.raises(ValueError, match=r"at most 1 columns"):
        family(2, 2)
    for wrong in (2.5, "6", True):
        with pytest.raises(ValueError, match="n_columns must be an integer or None; got"):
            family(4, wrong)
    with pytest.raises(ValueError, match="n_classes must be an integer"):
        family(4.0)


def test_impossible_random_codes_are_refused():
    with pytest.raises(ValueError, match=r"No random code of 7 columns for 128 classes .* Code\.designed"):
        Code.dense_random(128, 7)
    with pytest.raises(ValueError, match=r"No random code of 5 columns for 17 classes"):
        Code.sparse_random(17, 5)


@pytest.mark.parametrize(("n_classes", "n_columns"), [(4, 2), (5, 3), (16, 4), (33, 6), (64, 6)])
def test_designed_codes_of_the_fewest_columns_tell_all_classes_apart(n_classes, n_columns):
    assert Code.designed(n_classes, n_columns).minimum_distance == 1


@pytest.mark.parametrize(
    ("n_classes", "n_columns", "largest"),
    [(4, 6, 4 - 1), (8, 7, 4), (6, 10, 6), (5, 10, 6), (16, 15, 8 - 2), (12, 11, 6 - 1)],
)
def test_designed_codes_come_near_the_largest_distance(n_classes, n_columns, largest):
    # The total over pairs is at most n_columns floor(G^2 / 4), so that is a bound on the least of them.
    code = Code.designed(n_classes, n_columns)
    plotkin = n_columns * (n_classes**2 // 4) // comb(n_classes, 2)
    assert largest <= code.minimum_distance <= plotkin


@pytest.mark.parametrize("n_classes", [5, 9, 20])
def test_columns_of_a_designed_code_are_nearly_balanced(n_classes):
    code = Code.designed(n_classes, 2 * n_classes if n_classes > 5 else 8)
    imbalance = np.abs(code.matrix.sum(axis=0, dtype=int))
    assert imbalance.mean() <= 2 + n_classes % 2


@pytest.mark.parametrize("n_classes", [8, 16])
def test_distance_is_spent_where_classes_are_confused(n_classes):
    confusions = np.zeros((n_classes, n_classes))
    confusions[0, 1], confusions[3, 2] = 30, 30
    np.fill_diagonal(confusions, 1000)
    plain, code = Code.designed(n_classes, 18), Code.designed(n_classes, 18, confusions)
    D, plain_D = ((18 - M @ M.T) / 2 for M in (c.matrix.astype(float) for c in (code, plain)))
    assert min(D[0, 1], D[2, 3]) >= 1.5 * code.minimum_distance
    w = np.ones_like(confusions)
    w[0, 1] = w[1, 0] = w[2, 3] = w[3, 2] = 2
    off = ~np.eye(n_classes, dtype=bool)
    assert (D / w)[off].min() > (plain_D / w)[off].min()
    assert Code.designed(n_classes, 18, np.zeros_like(confusions)) == plain


@pytest.mark.parametrize("confusions", [np.ones((3, 3)), -np.ones((4, 4)), np.full((4, 4), np.nan), [1.0]])
def test_invalid_confusions_are_refused(confusions):
    with pytest.raises(ValueError, match=r"confusions must be a \(4, 4\) array of finite numbers >= 0"):
        Code.designed(4, 5, confusions)


@pytest.mark.parametrize("name", ["exhaustive", *RANDOM])
def test_estimators_take_the_names_and_draw_from_their_seed(name):
    X, y = load_iris(return_X_y=True)
    classes = np.minimum(np.arange(150) // 22, 6)  # seven of them
    model = LinearSVC(code=name, random_state=5).fit(X, classes)
    again = LinearSVC(code=name, random_state=5).fit(X, classes)
    assert model.code_ == again.code_
    assert_array_equal(model.coef_, again.coef_)
    assert model.code_.name == name
    assert LinearSVC(code=name).fit(X, y).score(X, y) > 0.6
    squares = LeastSquaresClassifier(code=name, random_state=5)
    assert squares.fit(X, classes).code_ == model.code_
    assert squares.path(X, classes, Cs=[1.0]) is not None
    stream = KernelPegasos(code=name, random_state=5).partial_fit(X, classes, classes=np.arange(7))
    assert stream.code_ == model.code_
    if name in RANDOM:
        assert LinearSVC(code=name, random_state=6).fit(X, classes).code_ != model.code_


@pytest.mark.parametrize("family", ["one-vs-rest", "one-vs-one", "dense-random", "sparse-random", "designed"])
def test_codes_of_very_many_classes_are_refused_before_memory_is_filled(family):
    with pytest.raises(ValueError, match=r"of 100,000 classes .* Use fewer classes, or a Code of your own"):
        CODES[family](100_000)


def test_a_code_without_zeros_compares_no_pairs_of_classes(monkeypatch):
    monkeypatch.setattr(Code, "row_margins", lambda self: pytest.fail("all pairs were compared"))
    rng = np.random.default_rng(0)
    assert Code(rng.choice(np.array([-1, 1], dtype=np.int8), (20_000, 100))).n_classes == 20_000


@pytest.mark.parametrize("n_pairs", [1, 7, 40])
def test_distances_do_not_depend_on_the_blocks_they_are_computed_in(monkeypatch, n_pairs):
    matrices = np.random.default_rng(0).integers(-1, 2, (3, 9, 14)).astype(np.int8)
    whole = distances.row_margins(matrices), distances.minimum_distance(matrices)
    monkeypatch.setattr(distances, "MAX_PAIRS_IN_MEMORY", n_pairs)
    assert np.array_equal(distances.row_margins(matrices), whole[0])
    assert np.array_equal(distances.minimum_distance(matrices), whole[1])
    pairs = distances.row_distances(matrices)
    pairs[:, np.arange(9), np.arange(9)] = np.inf
    assert np.array_equal(pairs.min(axis=(1, 2)), whole[1])
