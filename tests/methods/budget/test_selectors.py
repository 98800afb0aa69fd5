"""Selections and draws: who is chosen, and how often."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from maxmargin.losses import LOSSES, Hinge, Perceptron
from maxmargin.methods.budget.incremental import CandidatePool
from maxmargin.methods.budget.selectors import SELECTORS, Candidates, selector_from_name

N_DRAWS = 20_000


def column(values):
    return np.array(values, dtype=float)[:, None]


def test_each_selection_on_a_draw_worked_out_by_hand():
    f = column([3.0, -0.5, 0.2, -2.0, 1.5])
    candidates = Candidates.of(f, column([1, 1, 1, 1, -1]), Hinge())
    np.testing.assert_allclose(candidates.loss, [0.0, 1.5, 0.8, 3.0, 2.5])
    np.testing.assert_array_equal(candidates.update[:, 0], [0, 1, 1, 1, -1])
    picks = {name: pick(candidates, np.random.default_rng(0)) for name, pick in SELECTORS.items()}
    assert picks["random"] == 0
    assert picks["perceptron"] == 1
    assert picks["loss"] == 3
    assert picks["active"] == 2
    assert picks["loss-probabilistic"] in (1, 2, 3, 4)


def test_only_columns_in_which_a_candidate_takes_part_count():
    f = np.array([[0.1, 5.0], [-3.0, 0.2], [2.0, 0.0]])
    candidates = Candidates.of(f, np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]), Hinge())
    np.testing.assert_allclose(candidates.loss, [0.0, 4.8, 0.0])
    np.testing.assert_allclose(candidates.distance, [5.0, 0.2, 2.0])
    np.testing.assert_array_equal(candidates.update, [[0, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(candidates.has_loss, [False, True, False])


@pytest.mark.parametrize("name", SELECTORS)
@given(
    loss=st.sampled_from(sorted(LOSSES)),
    scores=st.lists(st.floats(-3, 3), min_size=1, max_size=8),
    seed=st.integers(0, 100),
)
def test_a_choice_by_loss_has_a_loss_if_any_candidate_has(name, loss, scores, seed):
    rng = np.random.default_rng(seed)
    y = column(np.where(rng.random(len(scores)) < 0.5, 1.0, -1.0))
    candidates = Candidates.of(column(scores), y, LOSSES[loss])
    chosen = SELECTORS[name](candidates, rng)
    if name in ("random", "active"):
        assert chosen in range(len(scores))
    elif candidates.has_loss.any():
        assert candidates.has_loss[chosen]
    else:
        assert chosen is None


def test_loss_probabilistic_draws_in_proportion_to_the_losses():
    f = column([0.5, -1.0, 2.0, 0.9, -4.0, 0.0])
    candidates = Candidates.of(f, np.ones((6, 1)), Hinge())
    rng = np.random.default_rng(0)
    counts = np.bincount(
        [SELECTORS["loss-probabilistic"](candidates, rng) for _ in range(N_DRAWS)], minlength=6
    )
    share = candidates.loss / candidates.loss.sum()
    assert counts[2] == share[2] == 0
    having = share > 0
    assert chisquare(counts[having], N_DRAWS * share[having]).pvalue > 1e-3


@pytest.mark.parametrize("name", ["loss", "loss-probabilistic"])
def test_where_updates_are_not_zero_but_all_losses_are_the_choice_is_uniform(name):
    f = column([0.0, 1.0, 0.0, 2.0, 0.0])  # the perceptron's loss at f = 0 is 0, its update is not
    candidates = Candidates.of(f, np.ones((5, 1)), Perceptron())
    assert not candidates.loss.any()
    rng = np.random.default_rng(1)
    counts = np.bincount([SELECTORS[name](candidates, rng) for _ in range(3000)], minlength=5)
    assert counts[1] == counts[3] == 0
    assert chisquare(counts[[0, 2, 4]]).pvalue > 1e-3


def test_infinite_losses_are_still_drawn():
    loss = np.array([1.0, np.inf, 0.0, np.inf])
    candidates = Candidates(np.zeros((4, 1)), np.ones((4, 1)), column(loss), np.ones((4, 1)))
    rng = np.random.default_rng(2)
    assert {SELECTORS["loss-probabilistic"](candidates, rng) for _ in range(50)} == {1, 3}


def test_names():
    for name, pick in SELECTORS.items():
        assert selector_from_name(name) is pick
        assert selector_from_name(pick) is pick
    for wrong in ("best", 3, None, Candidates):
        with pytest.raises(ValueError, match="selection must be a selector or one of"):
            selector_from_name(wrong)


# ---- draws ----

# n rows, of which some are taken; "heavy": what is taken outweighs all the rest
POOLS = {
    "equal": (np.ones(40), [3, 7]),
    "weighted": (np.linspace(0.2, 3.0, 40), [0, 39]),
    "heavy": (np.r_[1e6, np.linspace(0.2, 3.0, 39)], [0]),
    "small": (np.array([1.0, 2.0, 0.5, 4.0, 1.0]), [4]),
}


def pool_and_shares(name):
    weight, taken = POOLS[name]
    share = weight.copy()
    share[taken] = 0.0
    return CandidatePool(weight, np.array(taken)), share / share.sum()


@pytest.mark.parametrize("name", POOLS)
def test_distinct_draws_take_one_after_the_other_in_proportion_to_weight(name):
    pool, p = pool_and_shares(name)
    rng = np.random.default_rng(3)
    draws = np.array([pool.distinct(rng, 2) for _ in range(N_DRAWS)])
    assert (draws[:, 0] != draws[:, 1]).all()
    free = p > 0
    # p(second = j) = sum over the first i of p_i p_j / (1 - p_i)
    second = np.array([sum(p[i] * p[j] / (1 - p[i]) for i in range(len(p)) if i != j) for j in range(len(p))])
    for position, share in ((0, p), (1, second)):
        counts = np.bincount(draws[:, position], minlength=len(p))
        assert counts[~free].sum() == 0
        assert chisquare(counts[free], N_DRAWS * share[free]).pvalue > 1e-3


@pytest.mark.parametrize("name", POOLS)
def test_repeated_draws_are_in_proportion_to_weight(name):
    pool, p = pool_and_shares(name)
    counts = np.bincount(pool.repeated(np.random.default_rng(4), N_DRAWS), minlength=len(p))
    free = p > 0
    assert counts[~free].sum() == 0
    assert chisquare(counts[free], N_DRAWS * p[free]).pvalue > 1e-3


def test_a_draw_of_more_than_there_are_is_all_of_them_and_an_empty_pool_repeats_any_row():
    pool = CandidatePool(np.ones(5), np.array([2]))
    assert sorted(pool.distinct(np.random.default_rng(0), 60)) == [0, 1, 3, 4]
    for row in (0, 1, 3, 4):
        pool.remove(row)
    assert pool.n_left == 0
    assert set(pool.repeated(np.random.default_rng(0), 200)) == {0, 1, 2, 3, 4}


@given(n=st.integers(1, 300), size=st.integers(1, 100), share=st.floats(0, 0.99), seed=st.integers(0, 10**6))
def test_draws_hold_candidates_only(n, size, share, seed):
    rng = np.random.default_rng(seed)
    taken = np.flatnonzero(rng.random(n) < share)
    pool = CandidatePool(rng.uniform(0.1, 5.0, n) if seed % 2 else np.ones(n), taken)
    drawn = pool.distinct(rng, size)
    assert len(drawn) == len(set(drawn)) == min(size, n - len(taken))
    assert not set(drawn) & set(taken)
    repeated = pool.repeated(rng, size)
    assert len(repeated) == size
    if len(taken) < n:
        assert not set(repeated) & set(taken)
