"""The vectorised loops against many digits, for every instruction set this machine has."""

import os
import subprocess
import sys

import numpy as np
import pytest

from maxmargin import _core, _native

LIMITS = {np.float32: 1e-6, np.float64: 1e-14}


def exp(x):
    return _native.exp(x, np.empty_like(x))


def relative_error(got, wide):
    return float(np.max(np.abs(got.astype(np.longdouble) / wide - 1)))


@pytest.mark.parametrize("dtype", LIMITS)
def test_exp_is_accurate_over_all_normal_results(dtype):
    low, high = np.log(np.finfo(dtype).tiny), np.log(np.finfo(dtype).max)
    x = np.linspace(low, high, 400_001)[1:-1].astype(dtype)
    wide = np.exp(x.astype(np.longdouble))
    normal = (wide >= np.finfo(dtype).tiny) & (wide <= np.finfo(dtype).max)
    assert normal.mean() > 0.999
    assert relative_error(exp(x)[normal], wide[normal]) < LIMITS[dtype]


@pytest.mark.parametrize("dtype", LIMITS)
def test_exp_at_the_ends(dtype):
    x = np.array([np.nan, np.inf, -np.inf, 1e4, -1e4, 0.0, -0.0], dtype=dtype)
    np.testing.assert_array_equal(exp(x), np.array([np.nan, np.inf, 0, np.inf, 0, 1, 1], dtype=dtype))
    subnormal = np.log(np.finfo(dtype).tiny) - np.array([0.5, 5.0], dtype=dtype)
    assert (exp(subnormal) >= 0).all()
    assert (exp(subnormal) <= np.finfo(dtype).tiny).all()


@pytest.mark.parametrize("dtype", LIMITS)
def test_exp_does_not_depend_on_length_or_position(dtype):
    x = np.random.default_rng(0).normal(size=67).astype(dtype) * 20
    whole = exp(x)
    for start in (0, 1, 5):
        for n in (0, 1, 3, 7, 31, 62):
            np.testing.assert_array_equal(exp(x[start : start + n]), whole[start : start + n])


@pytest.mark.parametrize("dtype", LIMITS)
def test_exp_in_place_and_of_a_matrix(dtype):
    x = np.random.default_rng(0).normal(size=(7, 9)).astype(dtype)
    expected = exp(x)
    assert _native.exp(x, x) is x
    np.testing.assert_array_equal(x, expected)


def test_exp_refuses_what_it_cannot_take():
    x = np.zeros(4, np.float32)
    read_only = np.zeros(4, np.float32)
    read_only.flags.writeable = False
    for bad, error in (
        (np.zeros(4), TypeError),
        (np.zeros(4, np.int32), TypeError),
        (np.zeros(8, np.float32)[::2], TypeError),
        (read_only, TypeError),
        ([0.0] * 4, TypeError),
        (np.zeros(5, np.float32), ValueError),
        (np.zeros((2, 2), np.float32), ValueError),
    ):
        with pytest.raises(error, match="exp takes"):
            _native.exp(x, bad)


@pytest.mark.parametrize("dtype", LIMITS)
def test_tanh_is_accurate_near_zero_and_saturates(dtype):
    x = np.concatenate([np.logspace(-30, 1.5, 20_001), -np.logspace(-30, 1.5, 2_001), [0.0]]).astype(dtype)
    got = x.copy()
    _core.tanh(got)
    wide = np.tanh(x.astype(np.longdouble))
    assert relative_error(got[x != 0], wide[x != 0]) < 2 * LIMITS[dtype]
    assert got[-1] == 0
    special = np.array([np.nan, np.inf, -np.inf], dtype=dtype)
    _core.tanh(special)
    np.testing.assert_array_equal(special, [np.nan, 1, -1])


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_a_lower_instruction_set_passes_the_same_tests(isa):
    if os.environ.get("MAXMARGIN_SIMD"):
        pytest.skip("this is the run within the run")
    if isa == _native.simd_name():
        pytest.skip("every other test runs on it")
    code = (
        "import sys, pytest; from maxmargin import _native; print(_native.simd_name()); "
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-m', 'not slow', "
        "'tests/_native/test_simd.py', "
        "'tests/kernels/test_kernels.py', 'tests/kernels/test_extreme_values.py', "
        "'-k', 'exp or tanh or tiles or far or equal_rows']))"
    )
    environment = {**os.environ, "MAXMARGIN_SIMD": isa}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if isa == "baseline":
        assert done.stdout.startswith("baseline")
