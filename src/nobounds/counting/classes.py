"""What a pass tells apart: records of one class are the same to it.

A pass that states its classes gives the same result from one record of each class and the number of records in the
class. So a database may count, and send a row for each class that occurs. Finer classes do as well.
"""

from nobounds.counting.deviation import Deviation
from nobounds.counting.spans import Spans
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Classes:
    """Records on the same rung of `ladder`, at the same place among `edges`, or with the same value.

    With a `deviation`, the rungs are those of deviations. Missing records are a class of their own. With `spans`, which
    are sensitive, the pass looks only at the records in these intervals.
    """

    ladder: Ladder | None = None
    deviation: Deviation | None = None
    edges: tuple[float, ...] | None = None
    spans: Spans | None = None

    def __repr__(self) -> str:
        return "Classes(hidden)"
