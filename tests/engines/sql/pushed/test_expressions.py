"""Expressions of PostgreSQL: what numpy computes of a record, to the last bit, and no record makes them fail."""

from contextlib import closing

import numpy as np
import psycopg
import psycopg2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.pushed import FLOATS, HOSTILE, INF, NAN, PASSES, records, same, store, unfetched

from nobounds.counting.kept import Gathered
from nobounds.counting.lattice import Totals
from nobounds.counting.scan import scan
from nobounds.counting.spans import Spans
from nobounds.engines.sql.database import from_table


@pytest.mark.medium
@settings(max_examples=12)
@given(st.lists(FLOATS, max_size=60))
@example(HOSTILE * 2)
def test_every_pass_is_the_one_of_numpy(reader, writer, values):
    """On floats of all kinds, with nulls: counts, looks and sums are the same, and no record is fetched."""
    store(writer, "passes", "x float8", [(x,) for x in values])
    pushed = records(reader, "passes")
    object.__setattr__(pushed, "fetched", unfetched)
    chunks = [np.array([NAN if x is None else x for x in values])] if values else []
    for each in PASSES:
        assert same(scan(pushed, each, None), each(chunks)), each


HALFWAY = str((1 << 1024) - (1 << 970))  # between the largest float and the next power of two
TYPES = {
    "bool": [True, False, None],
    "int2": [-32768, 32767, 0, None],
    "int8": [2**63 - 1, -(2**63), 2**53 + 1, 2**53 + 3, -(2**62) - 1, None],
    "float4": [0.1, 3.4028235e38, 1e-45, -0.0, NAN, INF, -INF, None],
    "numeric(12,3)": ["0.001", "-999999999.999", "0.29", "NaN", None],
    "numeric(38,20)": ["0.00000000000000000001", "999999999999999999.99999999999999999999", None],
    "numeric": [
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "4.94e-324",
        "2.4e-324",
        "2.5e-324",
        "NaN",
        "Infinity",
        None,
        HALFWAY,
        str(int(HALFWAY) - 1),
        "1.1",
        "-Infinity",
    ],
    "date": ["0001-01-01", "9999-12-31", "4713-01-01 BC", "infinity", "-infinity", "1970-01-01", None],
    "timestamp": ["2024-02-29 12:00:00.000001", "1969-12-31 23:59:59.999999", "infinity", "4713-01-01 BC", None],
    "timestamptz": ["2024-02-29 12:00:00.000001+00", "9999-12-31 23:59:59.999999+00", "294276-12-31", None],
    "time": ["00:00:00", "23:59:59.999999", "24:00:00", None],
    "interval": ["1 day", "-1 microsecond", "178000000 years", "-178000000 years", "3.000007 s", None],
}


@pytest.mark.medium
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
@pytest.mark.parametrize("kind", TYPES)
def test_a_record_of_each_type_is_the_float_that_is_fetched(postgres, writer, kind, driver):
    """To the last bit, at the ends of the type and beyond those of floats; a null is missing."""
    store(writer, "typed", f"x {kind}", [(x,) for x in TYPES[kind]])
    with closing(driver.connect(postgres)) as connection:
        stream = from_table(connection, "public.typed")
        fetched = np.concatenate([batch.column(0).to_numpy() for batch in stream.batches([], ["x"])])
        pushed = records(connection, "typed")
        object.__setattr__(pushed, "fetched", unfetched)
        everything = Spans.of([(-INF, INF)])
        found = scan(pushed, Gathered(everything), None)
        assert np.array_equal(np.sort(found), np.sort(fetched[~np.isnan(fetched)]))
        assert scan(pushed, Totals(()), None) == Totals(())([fetched])
