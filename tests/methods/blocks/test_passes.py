"""Passes over blocks: one fixed tree of sums, whatever the order and the number of threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin._native import Cancelled
from maxmargin.methods.blocks import GivenBlocks, ThreadPasses, Tree, source_of
from maxmargin.solving import Deadline


class Noted:
    """A sum that remembers how it was bracketed."""

    def __init__(self, text):
        self.text = text

    def plus(self, other):
        return Noted(f"({self.text}+{other.text})")


def in_pairs(parts):
    """Neighbours are added level by level; the last one of an odd number goes up alone."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [pair[0] if len(pair) == 1 else f"({pair[0]}+{pair[1]})" for pair in pairs]
    return parts[0]


@given(order=st.integers(1, 40).flatmap(lambda n: st.permutations(range(n))))
def test_the_tree_depends_on_the_number_of_blocks_alone(order):
    tree = Tree()
    for number in order:
        tree.put(number, Noted(str(number)))
    assert tree.total().text == in_pairs([str(i) for i in range(len(order))])


def blocks_of(n, size=7):
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2
    return [(X[i : i + size], y[i : i + size]) for i in range(0, n, size)]


class Total:
    def __init__(self, value):
        self.value = value

    def plus(self, other):
        return Total(self.value + other.value)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_block_counts_once(n_threads):
    passes = ThreadPasses(source_of(blocks_of(100)), n_threads, Deadline())
    found = passes.run(lambda block, scale: Total(scale * block.X.sum()), 2.0)
    assert found.value == 2.0 * np.arange(100).sum()
    assert passes.n_passes == 1


def test_few_blocks_are_in_memory_at_once():
    alive, most, lock = set(), [], threading.Lock()

    def opened():
        for number, block in enumerate(blocks_of(400)):
            with lock:
                alive.add(number)
                most.append(len(alive))
            yield block

    def leave(block, task):
        with lock:
            alive.discard(int(block.X[0, 0]) // 7)
        return Total(0.0)

    ThreadPasses(source_of(opened), 2, Deadline()).run(leave, None)
    assert max(most) <= 4


def test_a_failing_block_ends_the_pass_with_its_error():
    def fail(block, task):
        if block.X[0, 0] >= 50:
            raise RuntimeError("broken block")
        return Total(0.0)

    with pytest.raises(RuntimeError, match="broken block"):
        ThreadPasses(source_of(blocks_of(100)), 2, Deadline()).run(fail, None)


def test_a_pass_is_cancelled_by_the_flag_of_its_deadline():
    deadline = Deadline()

    def cancel(block, task):
        deadline.cut()
        return Total(0.0)

    with pytest.raises(Cancelled):
        ThreadPasses(source_of(blocks_of(1000)), 2, deadline).run(cancel, None)


def test_a_source_without_blocks_is_refused():
    with pytest.raises(ValueError, match="source: there are no rows"):
        ThreadPasses(GivenBlocks(list), 1, Deadline()).run(lambda block, task: Total(0.0), None)


def test_blocks_that_can_be_read_once_only_are_refused():
    with pytest.raises(TypeError, match="read several times; got generator"):
        source_of(block for block in blocks_of(10))


def test_the_error_of_a_block_names_its_number():
    broken = [*blocks_of(20), (np.array([[np.nan]]), [1])]
    with pytest.raises(ValueError, match=r"block 3 of the source: Input contains NaN"):
        list(source_of(broken).blocks())
