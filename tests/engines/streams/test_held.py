"""The rows of a table at one moment: its passes, counts and groups are those of the table itself."""

import numpy as np
import pyarrow as pa

from nobounds.counting.histogram import Counted
from nobounds.counting.scan import gathered, scan
from nobounds.engines.open import open_stream
from nobounds.engines.source import Keyed
from nobounds.engines.streams.held import Held
from nobounds.engines.streams.local import Local
from nobounds.ladders.ladder import Ladder

TABLE = pa.table({"x": [1.0, None, 2.5, 7.0], "y": [4.0, 5.0, None, 6.0], "g": ["a", "b", "a", None]})
LADDER = Ladder.float_bits(9)


def test_passes_are_those_of_the_table():
    """Columns are read together, and each pass starts anew."""
    held, local = Held(open_stream(TABLE)), Local(open_stream(TABLE))
    columns = held.columns(["x", "y"])
    assert held.rows() == 4
    for name in ("x", "y", "x"):
        one, other = (
            scan(each, Counted(LADDER), None) for each in (columns[name], local.columns([name], None)[name].chunks())
        )
        assert np.array_equal(one.rungs, other.rungs) and np.array_equal(one.counts, other.counts)
    both = columns["x"].paired(columns["y"], np.add)
    assert np.array_equal(gathered(both), [5.0, np.nan, np.nan, 13.0], equal_nan=True)


def test_groups_are_those_of_the_table_also_by_other_names():
    """A selection renames columns and reads the same rows."""
    held, local = Held(open_stream(TABLE)), Local(open_stream(TABLE))
    for own, name, key in ((held, "x", "g"), (held.selected({"value": "x", "key": "g"}), "value", "key")):
        tallied, expected = own.tally(name, LADDER, Keyed((key,))), local.tally("x", LADDER, Keyed(("g",)), None)
        assert tallied.keys[0].to_pylist() == expected.keys[0].to_pylist() == ["a", "b"]
        assert np.array_equal(tallied.tally.counts, expected.tally.counts)
        counts, _ = own.group_rows(name, Keyed((key,))).totals()
        assert counts.tolist()[:1] == [2] and not counts[1:].any()
