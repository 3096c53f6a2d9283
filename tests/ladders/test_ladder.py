"""Ladders: a record's rung depends on the record alone, whatever the map, the limits and the company."""

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from support.ladders import (
    INF,
    MAX,
    SPECIAL,
    every,
    few,
    numbers,
    rung_of,
    symmetric,
)

from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Grid

# --- any ladder ---------------------------------------------------------------------------------------------------


@pytest.mark.medium
@every
@few
@given(values=st.lists(numbers, min_size=2, max_size=20))
def test_rungs_are_monotone(ladder, values):
    """A larger value never has a lower rung."""
    rungs = ladder.rungs(np.array(sorted(values)))
    assert np.all(np.diff(rungs) >= 0)


@pytest.mark.medium
@every
def test_rungs_are_monotone_across_neighbouring_floats(ladder):
    """Between a float and the next there is no step down, near every kind of edge."""
    around = [math.ldexp(m, e) for e in (-1074, -1022, -30, -1, 0, 1, 8, 52, 53, 1000) for m in (1.0, 1.25, 1.5)]
    around += [k / 200 for k in range(-900, 900)]
    for value in around:
        three = [math.nextafter(value, -INF), value, math.nextafter(value, INF)]
        assert np.all(np.diff(ladder.rungs(np.array(three))) >= 0), value


@pytest.mark.medium
@every
@few
@given(value=numbers)
def test_rungs_stay_between_first_and_last(ladder, value):
    """Every record, however large, has one of the ladder's rungs."""
    assert ladder.first <= rung_of(ladder, value) <= ladder.last


@every
def test_infinities_clamp_to_the_ends(ladder):
    """Infinities go to the first and the last rung."""
    assert rung_of(ladder, -INF) == ladder.first
    assert rung_of(ladder, INF) == ladder.last


@every
def test_size_counts_the_rungs(ladder):
    """The size is the number of rungs from first to last."""
    assert ladder.size == len(range(ladder.first, ladder.last + 1))


@pytest.mark.medium
@every
@few
@given(values=st.lists(numbers, min_size=1, max_size=30), seed=st.integers(0, 2**32))
def test_the_rung_of_a_record_ignores_its_company(ladder, values, seed):
    """Order, chunking, strides, reversal and byte order leave every record's rung as it is alone."""
    x = np.array(values)
    alone = np.array([rung_of(ladder, value) for value in values])
    order = np.random.default_rng(seed).permutation(len(x))
    cut = seed % (len(x) + 1)
    table = np.asfortranarray(np.stack([x, x[::-1], np.zeros_like(x)], axis=1))
    layouts = {
        "contiguous": ladder.rungs(x),
        "permuted": ladder.rungs(x[order])[np.argsort(order)],
        "chunked": np.concatenate([ladder.rungs(x[:cut]), ladder.rungs(x[cut:])]),
        "strided": ladder.rungs(np.repeat(x, 3)[::3]),
        "reversed": ladder.rungs(x[::-1])[::-1],
        "column of a C array": ladder.rungs(np.ascontiguousarray(table)[:, 0]),
        "column of a Fortran array": ladder.rungs(table[:, 0]),
        "row of a Fortran array": ladder.rungs(np.asfortranarray(table.T)[0]),
        "big-endian": ladder.rungs(x.astype(">f8")),
        "little-endian": ladder.rungs(x.astype("<f8")),
    }
    for name, rungs in layouts.items():
        assert np.array_equal(rungs, alone), name


@pytest.mark.medium
@every
@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "i1", "u1", "i2", "i4", "u4", "i8", "u8", ">i8"])
def test_the_rung_of_a_number_ignores_its_type(ladder, dtype):
    """A number that a narrower type holds exactly has the rung that it has as a float64."""
    rng = np.random.default_rng(5)
    narrow = (rng.normal(size=500) * 40).astype(dtype)
    if np.dtype(dtype).kind != "f":
        narrow = np.abs(narrow.astype(np.int64)).astype(dtype)
    wide = np.array([float(value) for value in narrow])
    assert np.array_equal(ladder.rungs(narrow), ladder.rungs(wide))


@every
def test_the_input_is_not_changed(ladder):
    """Finding rungs leaves the records as they were, bit for bit."""
    x = np.array(SPECIAL)
    before = x.tobytes()
    ladder.rungs(x)
    assert x.tobytes() == before


@every
def test_values_and_tops_are_finite_and_in_order(ladder):
    """Values and tops of rungs are finite, increase with the rung, and a value is not above its top."""
    some = sorted({ladder.first, ladder.first + 1, -1, 0, 1, 2, 3, ladder.last - 1, ladder.last})
    rungs = [rung for rung in some if ladder.first <= rung <= ladder.last]
    values, tops = [ladder.value(rung) for rung in rungs], [ladder.top(rung) for rung in rungs]
    assert all(math.isfinite(number) for number in values + tops)
    assert values == sorted(values)
    assert tops == sorted(tops)
    assert all(value <= top for value, top in zip(values, tops, strict=True))


# --- float-bits and grid: symmetric about zero --------------------------------------------------------------------


@symmetric
@few
@given(value=numbers)
def test_the_mirror_image_of_a_value_has_the_mirror_image_of_its_rung(ladder, value):
    """rung(-x) = -rung(x), and value(-r) = -value(r)."""
    rung = rung_of(ladder, value)
    assert rung_of(ladder, -value) == -rung
    assert ladder.value(-rung) == -ladder.value(rung)
    assert ladder.map.interval(-rung) == tuple(-edge for edge in reversed(ladder.map.interval(rung)))


@symmetric
def test_zero_of_either_sign_has_rung_0(ladder):
    """-0.0 and 0.0 are the same number: rung 0, and its value is 0."""
    assert ladder.rungs(np.array([0.0, -0.0])).tolist() == [0, 0]
    assert str(ladder.value(0)) in ("0", "0.0")


@pytest.mark.medium
@symmetric
@few
@given(share=st.fractions(-1, 1), small=st.integers(-5000, 5000))
def test_the_value_of_a_rung_lies_in_it(ladder, share, small):
    """rung(value(r)) = r, wherever the value is within the range of floats."""
    for rung in (round(share * ladder.last), small, ladder.first, ladder.last):
        if ladder.first <= rung <= ladder.last and abs(ladder.map.value(rung)) <= MAX:
            assert rung_of(ladder, float(ladder.value(rung))) == rung


# --- limits -------------------------------------------------------------------------------------------------------


@pytest.mark.medium
@every
@few
@given(a=st.fractions(-2000, 2000), b=st.fractions(-2000, 2000), value=numbers)
def test_limits_clamp_records_and_values(ladder, a, b, value):
    """On a limited ladder a record outside the bounds goes to an end rung, and no value or top leaves the bounds."""
    lower, upper = min(a, b), max(a, b)
    if lower == upper:
        return
    limited = ladder.limited(lower, upper)
    rung = rung_of(limited, value)
    clamped = min(max(value, float(lower)), float(upper))
    assert rung == rung_of(limited, clamped) == rung_of(ladder, clamped)
    if value < lower:
        assert rung == limited.first
    if value > upper:
        assert rung == limited.last
    for r in (limited.first, rung, limited.last):
        assert float(lower) <= limited.value(r) <= float(upper)
        assert float(lower) <= limited.top(r) <= float(upper)
    assert limited.size == limited.last - limited.first + 1 <= ladder.size


@symmetric
def test_one_sided_limits(ladder):
    """Either limit may be left out: the other end stays where it was."""
    assert ladder.limited(None, None) == ladder
    above, below = ladder.limited(Fraction(10), None), ladder.limited(None, Fraction(10))
    assert (above.last, below.first) == (ladder.last, ladder.first)
    assert above.first == below.last == rung_of(ladder, 10.0)
    assert above.value(above.first) >= 10 >= below.value(below.last)


def test_limited_whole_numbers_stay_whole():
    """Between 0 and 100 the end rungs of the grid of whole numbers stand for 0 and 100."""
    ladder = Ladder.grid(1).limited(Fraction(0), Fraction(100))
    assert (ladder.size, ladder.value(ladder.first), ladder.value(ladder.last)) == (101, 0, 100)
    assert ladder.rungs(np.array([-1e9, -INF, 37.0, 1e9, INF])).tolist() == [0, 0, 37, 100, 100]


# --- words and errors ---------------------------------------------------------------------------------------------


def test_describe_names_the_ladder():
    """A ladder's description has its kind and its parameters, enough to make it again."""
    assert Ladder.float_bits(9).describe() == {"ladder": "float-bits", "bits": 9, "floor": -100}
    assert Ladder.grid(0.01, 7).describe() == {"ladder": "grid", "resolution": "1/100", "bits": 7}
    assert Ladder.geometric("3/2").describe() == {"ladder": "geometric, beta=3/2"}
    assert Ladder.uniform(0, 1, 2).describe() == {"ladder": "uniform"}
    assert Ladder.of([1]).describe() == {"ladder": "given"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ladder.float_bits(-1), "bits must be between 0 and 51, got bits=-1"),
        (lambda: Ladder.float_bits(52), "bits must be between 0 and 51, got bits=52"),
        (lambda: Ladder.grid(1, 52), "bits must be between 0 and 51, got bits=52"),
        (lambda: Ladder.grid(0), "resolution must be greater than 0, got resolution=0"),
        (lambda: Ladder.grid(-0.5), "resolution must be greater than 0, got resolution=-0.5"),
        (lambda: Ladder.grid("1e-320"), "resolution must be within the range of normal floats, got resolution=1/1"),
        (lambda: Ladder.grid("1e309"), "resolution must be within the range of normal floats, got resolution=10"),
        (lambda: Ladder.grid(math.nan), "resolution must be a finite number, got resolution=nan"),
        (lambda: Ladder.geometric(1), "beta must be greater than 1, got beta=1"),
        (lambda: Ladder.geometric(0.5), "beta must be greater than 1, got beta=0.5"),
        (lambda: Ladder.geometric(INF), "beta must be a finite number, got beta=inf"),
        (lambda: Ladder.geometric(lower=math.nan), "lower must be a finite number, got lower=nan"),
        (lambda: Ladder.geometric(scale=0), "scale must be greater than 0, got scale=0"),
        (lambda: Ladder.geometric(lower=5, upper=5), "upper must be greater than lower, got lower=5 and upper=5"),
        (lambda: Ladder.uniform(3, 2, 10), "upper must be greater than lower, got lower=3 and upper=2"),
        (lambda: Ladder.uniform(0, 1, 0), "steps must be between 1 and 4194304, got steps=0"),
        (lambda: Ladder.of([0, INF]), "edge must be a finite number, got edge=inf"),
        (lambda: Ladder.grid(1).limited(Fraction(2), Fraction(1)), "upper must be greater than lower, got lower=2.0"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    """A wrong parameter gets a ValueError with its name, the rule and the value."""
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)


def test_a_ladder_of_too_many_edges_is_refused(monkeypatch):
    """A beta so fine that its table would not fit is refused, with what to do instead."""
    monkeypatch.setattr("nobounds.ladders.ladder.MOST_EDGES", 500)
    with pytest.raises(ValueError, match=r"^beta=1.0001 needs more than 500 edges; give upper="):
        Ladder.geometric(1.0001)
    assert Ladder.geometric(1.0001, upper=0.04).size < 500


@pytest.mark.parametrize("edges", [[], [1, "1e400"]])
def test_edges_must_be_there_and_finite(edges):
    """A ladder without edges, or with one that no float reaches, is refused."""
    with pytest.raises(ValueError, match="a ladder needs edges, and all within the range of floats"):
        Ladder.of(edges)


@pytest.mark.parametrize("edges", [[1, 1], [2, 1], [1 + Fraction(1, 10**30), 1 + Fraction(2, 10**30)]])
def test_edges_must_increase(edges):
    """Equal edges, falling edges and edges that no float tells apart are refused."""
    with pytest.raises(ValueError, match="edges of a ladder must be strictly increasing as floats"):
        Ladder.of(edges)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Ladder.float_bits(8.5), "bits"),
        (lambda: Ladder.float_bits("8"), "bits"),
        (lambda: Ladder.grid(1, 8.5), "bits"),
        (lambda: Ladder.uniform(0, 1, 2.5), "steps"),
    ],
)
def test_counts_that_are_not_whole_are_named(make, name):
    """A count that is not an int is refused with its name."""
    with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
        make()


@pytest.mark.parametrize("make", [lambda: Ladder.grid(None), lambda: Ladder.geometric([2]), lambda: Ladder.grid(True)])
def test_wrong_types_are_named(make):
    """Something that is no number gets a TypeError with the parameter's name."""
    with pytest.raises(TypeError, match=r"^(resolution|beta) must be a number, got (resolution|beta)="):
        make()


def test_ladders_are_frozen():
    """A ladder does not change after it is made."""
    with pytest.raises(AttributeError):
        Ladder.grid(1).first = 0
    with pytest.raises(AttributeError):
        Grid(Fraction(1), 8).bits = 3
