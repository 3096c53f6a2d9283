"""Programs over streams: one query at a time, or a list of them as a plain program."""

from fractions import Fraction

from nobounds.accounting.cost import pure
from nobounds.mechanisms.decisions import Above
from nobounds.programs.law import paths
from nobounds.programs.program import Driver
from nobounds.programs.streams import Waiting, over, step


def above(query):
    return Above(Fraction(query), Fraction(1), Fraction(1), False, lambda: pure(Fraction(1)))


def positions():
    """The positions of up to two queries that are noisily above 0."""
    found, position = (), 0
    while len(found) < 2:
        query = yield Waiting(found)
        if (yield above(query)):
            found = (*found, position)
        position += 1
    return found


class Exact(Driver):
    """Settles decisions without noise."""

    def decide(self, decision):
        return decision.number > 0


def test_one_query_at_a_time():
    """After each query the result so far is known, and whether the program waits for another."""
    program, driver = positions(), Exact()
    assert driver.run(step(program)) == ((), True)
    assert [driver.run(step(program, query)) for query in (3, -1, 5)] == [((0,), True), ((0,), True), ((0, 2), False)]


def test_a_list_of_queries_ends_with_them_or_with_the_program():
    """What is left of the list is not looked at."""
    assert Exact().run(over(positions(), [-1, 2, -3])) == (1,)
    assert Exact().run(over(positions(), iter([4, 5, None]))) == (0, 1)


def test_the_law_of_a_stream_adds_up():
    """Over all patterns of answers."""
    chances = dict.fromkeys([(), (0,), (1,), (0, 1)], 0.0)
    for chance, found in paths(lambda: over(positions(), [1, -1])):
        chances[found] += chance
    assert abs(sum(chances.values()) - 1) < 1e-12 and min(chances.values()) > 0
