"""Ladders: a record's rung depends on the record alone, and edges are where exact arithmetic puts them."""

import math
import random
import sys
from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from nobounds.ladder import Ladder
from nobounds.rungs import Grid

MAX, NORMAL, TINY = sys.float_info.max, sys.float_info.min, 5e-324
INF = math.inf

FLOAT_BITS = {f"float-bits {bits}": Ladder.float_bits(bits) for bits in (0, 1, 8, 51)}
GRIDS = {
    f"grid {resolution}, {bits} bits": Ladder.grid(resolution, bits)
    for resolution in (1, 0.01, 0.25, "1e-9", 3)
    for bits in (0, 8, 48)
}
TABLES = {
    "geometric 1.01": Ladder.geometric(1.01),
    "geometric 1.1 from -3": Ladder.geometric(1.1, lower=-3, scale=Fraction(1, 7)),
    "geometric 2 to 1000": Ladder.geometric(2, upper=1000),
    "uniform": Ladder.uniform(-1, 2, 30),
    "given": Ladder.of([-5, "-1/3", 0, 0.1, 7, 1e9]),
}
LADDERS = FLOAT_BITS | GRIDS | TABLES
SYMMETRIC = FLOAT_BITS | GRIDS

SPECIAL = [0.0, -0.0, TINY, -TINY, NORMAL, -NORMAL, 1.0, -1.0, 0.5, 1.5, 2.5, 1e308, -1e308, MAX, -MAX, INF, -INF]

few = settings(max_examples=20, deadline=None)  # there are many ladders
every = pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS.keys())
symmetric = pytest.mark.parametrize("ladder", SYMMETRIC.values(), ids=SYMMETRIC.keys())
finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3000, 3000).map(lambda i: i / 100)
numbers = st.floats(allow_nan=False) | st.sampled_from(SPECIAL) | st.integers(-3000, 3000).map(float)


def rung_of(ladder: Ladder, value: float) -> int:
    return int(ladder.rungs(np.array([value]))[0])


# --- any ladder ---------------------------------------------------------------------------------------------------


@every
@few
@given(values=st.lists(numbers, min_size=2, max_size=20))
def test_rungs_are_monotone(ladder, values):
    """A larger value never has a lower rung."""
    rungs = ladder.rungs(np.array(sorted(values)))
    assert np.all(np.diff(rungs) >= 0)


@every
def test_rungs_are_monotone_across_neighbouring_floats(ladder):
    """Between a float and the next there is no step down, near every kind of edge."""
    around = [math.ldexp(m, e) for e in (-1074, -1022, -30, -1, 0, 1, 8, 52, 53, 1000) for m in (1.0, 1.25, 1.5)]
    around += [k / 200 for k in range(-900, 900)]
    for value in around:
        three = [math.nextafter(value, -INF), value, math.nextafter(value, INF)]
        assert np.all(np.diff(ladder.rungs(np.array(three))) >= 0), value


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


@symmetric
@few
@given(share=st.fractions(-1, 1), small=st.integers(-5000, 5000))
def test_the_value_of_a_rung_lies_in_it(ladder, share, small):
    """rung(value(r)) = r, wherever the value is within the range of floats."""
    for rung in (round(share * ladder.last), small, ladder.first, ladder.last):
        if ladder.first <= rung <= ladder.last and abs(ladder.map.value(rung)) <= MAX:
            assert rung_of(ladder, float(ladder.value(rung))) == rung


# --- float-bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", range(52))
@few
@given(value=finite)
def test_float_bits_intervals_hold_their_values(bits, value):
    """0 < low <= |x| < high for the interval of the rung of |x|, and |x| < high for rung 0; the last holds the end."""
    ladder = Ladder.float_bits(bits)
    size = abs(value)
    rung = rung_of(ladder, size)
    low, high = ladder.map.interval(rung)
    assert size < high or size == MAX == high
    assert (low == -high) if rung == 0 else (0 < low <= size)


@pytest.mark.parametrize("bits", range(52))
@few
@given(share=st.fractions(0, 1))
def test_float_bits_intervals_touch(bits, share):
    """Each rung begins where the one before it ends, with 2**bits equal rungs between powers of two."""
    ladder = Ladder.float_bits(bits)
    rung = max(1, round(share * ladder.last))
    low, high = ladder.map.interval(rung)
    assert ladder.map.interval(rung - 1)[1] == low
    assert low <= ladder.map.value(rung) <= high
    if low >= NORMAL and rung < ladder.last:
        assert high - low == Fraction(2) ** (math.frexp(float(low))[1] - 1 - bits)


@pytest.mark.parametrize("bits", [0, 1, 8, 20, 51])
@pytest.mark.parametrize("floor", [-1022, -100, 0])
def test_float_bits_size(bits, floor):
    """2**bits rungs for each exponent from the floor to 1023, on each side, and rung 0."""
    assert Ladder.float_bits(bits, floor).size == 2 * ((1024 - floor) * 2**bits) + 1


@pytest.mark.parametrize("bits", [0, 8, 51])
def test_float_bits_rungs_change_at_the_lower_edge(bits):
    """One float below an edge is the rung below; the edge itself is in the upper rung."""
    ladder = Ladder.float_bits(bits)
    for rung in [1, 2, 3, ladder.last // 3, ladder.last // 2, ladder.last - 1, ladder.last]:
        edge = float(ladder.map.interval(rung)[0])
        assert rung_of(ladder, edge) == rung
        assert rung_of(ladder, math.nextafter(edge, 0)) == rung - 1


def test_float_bits_denormals():
    """What is smaller than 2**floor is 0, denormals always; with 51 bits pairs of floats share a rung."""
    assert rung_of(Ladder.float_bits(8), TINY) == rung_of(Ladder.float_bits(8, -1022), 2.0**-1030) == 0
    assert rung_of(Ladder.float_bits(8), math.nextafter(2.0**-100, 0)) == 0
    assert rung_of(Ladder.float_bits(8), 2.0**-100) == 1
    assert rung_of(Ladder.float_bits(8), -(2.0**-100)) == -1
    step = 2.0**-152
    assert [rung_of(Ladder.float_bits(51), 2.0**-100 + k * step) for k in range(5)] == [1, 1, 2, 2, 3]


@given(value=st.floats(1e-20, 1e300), power=st.integers(-20, 20))
def test_float_bits_are_scale_free(value, power):
    """Scaling by a power of two moves the rung by 2**bits a doubling, wherever the value is."""
    ladder = Ladder.float_bits(8)
    assert rung_of(ladder, math.ldexp(value, power)) == rung_of(ladder, value) + 256 * power


# --- grid ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ladder", GRIDS.values(), ids=GRIDS.keys())
@few
@given(value=finite)
def test_grid_intervals_hold_their_values(ladder, value):
    """low <= x <= high: exactly if the unit is a power of two, else up to the rounding of one division (2**-51)."""
    unit = ladder.map.unit
    if abs(value) / unit >= MAX:
        return
    low, high = ladder.map.interval(rung_of(ladder, value))
    slack = 0 if math.log2(unit).is_integer() else abs(Fraction(value)) / 2**51
    assert low - slack <= value <= high + slack


@pytest.mark.parametrize("resolution", [1, 0.01, 0.25, "1e-9", 3])
@pytest.mark.parametrize("bits", [0, 1, 8, 11])
def test_grid_has_one_rung_a_point_near_zero(resolution, bits):
    """The grid points up to 2**bits from 0 each have the rung of their number, and come back as themselves."""
    ladder = Ladder.grid(resolution, bits)
    unit = ladder.map.unit
    for k in range(-(2**bits), 2**bits + 1):
        point = float(k * unit)
        assert rung_of(ladder, point) == k
        assert ladder.value(k) == point


@pytest.mark.parametrize("bits", [0, 1, 8, 11])
@few
@given(share=st.fractions(0, 1))
def test_grid_rungs_far_from_zero_are_narrow(bits, share):
    """Beyond 2**bits points from 0 a rung is at most 2**-bits of its first point wide, and rungs touch."""
    ladder = Ladder.grid("0.01", bits)
    rung = 2**bits + round(share * (ladder.last - 2**bits))
    low, high = ladder.map.interval(rung)
    first_point = low + ladder.map.unit / 2
    assert high - low <= first_point / 2**bits
    assert ladder.map.interval(rung - 1)[1] == low


def test_grid_rungs_are_not_wasted():
    """Far from 0 the rungs of an 8-bit grid are as wide as they may be: 2**-9 to 2**-8 of the value."""
    ladder = Ladder.grid(1)
    for rung in (10_000, 50_000, 200_000):
        low, high = ladder.map.interval(rung)
        assert high - low > low / 2**9


def test_cents_come_back_as_themselves():
    """0.00 to 20.47 with 11 bits: every amount that was read from text is returned as the same float."""
    ladder = Ladder.grid(0.01, 11)
    for cents in range(2048):
        amount = float(f"{cents / 100:.2f}")
        for signed in (amount, -amount):
            assert ladder.value(rung_of(ladder, signed)) == signed


def test_cents_that_arithmetic_has_blurred_come_back_clean():
    """A sum such as 0.1 + 0.2 is on the grid of cents up to a rounding error, and is returned without it."""
    assert Ladder.grid(0.01).value(rung_of(Ladder.grid(0.01), 0.1 + 0.2)) == 0.3


def test_whole_numbers_come_back_as_ints():
    """With resolution 1 the answers are of type int, negative ones too; with resolution 0.25 they are floats."""
    ages = Ladder.grid(1)
    for age in range(-511, 512):
        answer = ages.value(rung_of(ages, float(age)))
        assert (answer, type(answer)) == (age, int)
    quarters = Ladder.grid(0.25)
    assert (quarters.value(3), type(quarters.value(3))) == (0.75, float)
    assert Ladder.grid(3).value(5) == 15
    assert (ages.integral, Ladder.grid(3).integral, quarters.integral) == (True, True, False)


def test_tops_of_whole_numbers_are_half_way():
    """The upper edge of the rung of 37 is 37.5, and that of -37 is -36.5: no record of the rung is above it."""
    ages = Ladder.grid(1)
    assert (ages.top(37), ages.top(-37)) == (37.5, -36.5)
    assert rung_of(ages, 37.4) == 37


def test_grid_rungs_of_halves_go_to_the_even_point():
    """A record half-way between two grid points goes to the even one, as IEEE 754 rounds."""
    assert Ladder.grid(1).rungs(np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])).tolist() == [0, 2, 2, 0, -2, -2]


def test_grid_values_beyond_the_last_point_clamp():
    """A quotient too large for a float counts as infinite: the last rung."""
    ladder = Ladder.grid("1e-9")
    assert ladder.rungs(np.array([1e308, -1e308])).tolist() == [ladder.last, ladder.first]


# --- tables of edges ----------------------------------------------------------------------------------------------

GEOMETRIC = {
    "1.001": (Fraction(1001, 1000), Fraction(0), Fraction(1)),
    "1.01": (Fraction(101, 100), Fraction(0), Fraction(1)),
    "2": (Fraction(2), Fraction(0), Fraction(1)),
    "3/2": (Fraction(3, 2), Fraction(0), Fraction(1)),
    "1+1/1024": (Fraction(1025, 1024), Fraction(0), Fraction(1)),
    "1.1 from -3, scale 1/7": (Fraction(11, 10), Fraction(-3), Fraction(1, 7)),
    "1.1 from 1/3, scale 1e-9": (Fraction(11, 10), Fraction(1, 3), Fraction(1, 10**9)),
}
geometric = pytest.mark.parametrize(("beta", "lower", "scale"), GEOMETRIC.values(), ids=GEOMETRIC.keys())


def some_edges(table: np.ndarray, beta: Fraction) -> list[int]:
    """The first 300 edges, the last ones if their powers are not too long, and some at random in between."""
    most = min(len(table), int(300_000 / math.log2(beta.denominator + beta.numerator)))
    rng = random.Random(2)
    return sorted({*range(min(300, most)), most - 1, *(rng.randrange(most) for _ in range(40))})


@geometric
def test_geometric_edges_are_the_exact_ones_rounded_up(beta, lower, scale):
    """Edge i is the smallest float at or above lower + scale * (beta**i - 1), by exact fractions."""
    table = Ladder.geometric(beta, lower=lower, scale=scale, upper=1e25).map.table
    for i in some_edges(table, beta):
        exact = lower + scale * (beta**i - 1)
        assert Fraction(float(table[i])) >= exact
        assert Fraction(math.nextafter(float(table[i]), -INF)) < exact


@geometric
def test_geometric_ladders_decide_exactly_at_their_edges(beta, lower, scale):
    """At an edge, one float below and one above, the rung is the number of exact edges at or below the value."""
    ladder = Ladder.geometric(beta, lower=lower, scale=scale, upper=1e25)
    table = ladder.map.table
    for i in some_edges(table, beta)[:-1]:
        exact = lower + scale * (beta**i - 1)
        edge = float(table[i])
        for value in (math.nextafter(edge, -INF), edge, math.nextafter(edge, INF)):
            if i == 0 or table[i - 1] <= value < table[i + 1]:
                assert rung_of(ladder, value) == (i if value < exact else i + 1)


@geometric
def test_geometric_ladders_end_at_upper(beta, lower, scale):
    """The last edge is at most `upper`, and the next would exceed it."""
    upper = Fraction(1234)
    table = Ladder.geometric(beta, lower=lower, scale=scale, upper=upper).map.table
    assert lower + scale * (beta ** (len(table) - 1) - 1) <= upper < lower + scale * (beta ** len(table) - 1)


def test_edges_closer_to_a_float_than_any_ball_are_decided_exactly():
    """An edge 1e-70 above or below 1, or at 1 by way of 0.1 + 0.9, is rounded up by exact arithmetic."""
    close = Fraction(1, 10**70)
    after = math.nextafter(1, INF)
    for lower, edge in ((1 + close, after), (1 - close, 1.0), (Fraction(1), 1.0)):
        assert Ladder.geometric(2, lower=lower, upper=100).map.table[0] == edge
    for scale, edge in ((Fraction(9, 10), 1.0), (Fraction(9, 10) + close, after), (Fraction(9, 10) - close, 1.0)):
        assert Ladder.geometric(2, lower=0.1, scale=scale, upper=100).map.table[1] == edge


def test_the_papers_ladder_reaches_the_end_of_the_floats():
    """With no `upper` the edges beta**i - 1 go on while there are floats: ln(1.8e308)/ln(1.001) of them."""
    table = Ladder.geometric().map.table
    assert table[0] == 0
    assert len(table) == 1 + math.floor(math.log(MAX) / math.log(1.001))
    assert MAX / 1.002 < table[-1] <= MAX


def test_an_edge_next_to_the_largest_float():
    """A table may end at the largest float, without a warning."""
    assert Ladder.geometric(MAX).map.table.tolist() == [0.0, MAX]


def test_a_beta_read_from_a_float_is_its_decimal_text():
    """beta=1.1 and beta="11/10" are the same ladder, not the binary neighbour of 1.1."""
    assert np.array_equal(Ladder.geometric(1.1).map.table, Ladder.geometric("11/10").map.table)
    binary = Ladder.geometric(Fraction(1.1)).map.table
    assert not np.array_equal(Ladder.geometric(1.1).map.table, binary)


@pytest.mark.parametrize(
    ("lower", "upper", "steps"), [(0, 1, 10), (-3, Fraction(1, 3), 77), (-1e9, 1e9, 1), (0, 0.3, 3)]
)
def test_uniform_edges_are_the_exact_ones_rounded_up(lower, upper, steps):
    """Edge i is the smallest float at or above lower + (upper - lower) * i / steps."""
    ladder = Ladder.uniform(lower, upper, steps)
    low = Fraction(str(lower))
    width = (Fraction(str(upper)) - low) / steps
    assert ladder.size == steps + 1  # and one rung below the lower bound
    for i, edge in enumerate(ladder.map.table.tolist()):
        assert Fraction(math.nextafter(edge, -INF)) < low + width * i <= Fraction(edge)


@given(edges=st.lists(st.fractions(-1000, 1000), min_size=1, max_size=12, unique=True), value=finite)
def test_given_edges_decide_exactly(edges, value):
    """The rung is the number of exact edges at or below the value, the last rung taking all above."""
    edges.sort()
    if len({float(edge) for edge in edges}) < len(edges) or any(b - a < 1e-9 for a, b in pairwise(edges)):
        return
    ladder = Ladder.of(edges)
    for at in [value, *(float(edge) for edge in edges), *(math.nextafter(float(edge), INF) for edge in edges)]:
        assert rung_of(ladder, at) == min(sum(edge <= at for edge in edges), len(edges) - 1)


@pytest.mark.parametrize("ladder", TABLES.values(), ids=TABLES.keys())
def test_rungs_of_a_table_hold_their_values(ladder):
    """rung(value(r)) = r for the rungs between two edges; the first stands for all below its edge."""
    for rung in range(1, min(ladder.size, 500)):
        low, high = ladder.map.interval(rung)
        assert low < ladder.value(rung) < high == ladder.top(rung)
        assert rung_of(ladder, ladder.value(rung)) == rung
    assert rung_of(ladder, -1e300) == 0
    assert ladder.value(0) == ladder.map.table[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ladder.uniform(0, 1, 4),
        lambda: Ladder.of([1, 2, 3]),
        lambda: Ladder.geometric(2),
        lambda: Ladder.float_bits(9),
        lambda: Ladder.grid("0.01"),
    ],
    ids=["uniform", "given", "geometric", "float-bits", "grid"],
)
def test_ladders_with_the_same_edges_are_equal(make):
    """Ladders made twice from the same parameters are equal, and have one hash."""
    assert make() == make()
    assert hash(make()) == hash(make())


def test_ladders_with_other_edges_are_not_equal():
    """One edge or one bit more makes another ladder."""
    assert Ladder.of([1, 2, 3]) != Ladder.of([1, 2, 4])
    assert Ladder.of([1, 2, 3]) != Ladder.of([1, 2])
    assert Ladder.float_bits(8) != Ladder.float_bits(9)
    assert Ladder.grid(1) != Ladder.grid(2)


# --- limits -------------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr("nobounds.ladder.MOST_EDGES", 500)
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
