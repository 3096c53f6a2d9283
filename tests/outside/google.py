"""Google's neighbouring data sets as nobounds sees them: bounds are `lower` and `upper`, a unit adds several rows."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from outside.textproto import parsed

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """Two neighbouring data sets, what is promised for them, and how Google's tester looks at samples.

    `rows` is how many records one unit adds; tree height and branching are those of Google's mechanism, and left out.
    """

    name: str
    gaussian: bool
    epsilon: float
    delta: float
    tolerance: float
    samples: int
    lower: float
    upper: float
    raw: tuple
    neighbour: tuple
    ranks: tuple = ()
    buckets: int = 0
    granularity: float = 0.0

    @property
    def rows(self):
        """The records that the unit in question adds."""
        return len(self.neighbour) - len(self.raw)

    @property
    def total(self):
        """Epsilon as an exact number."""
        return Fraction(str(self.epsilon))


def read(kind):
    """The cases of bounded "quantiles" or of a bounded "sum", and the parameters of the test itself."""
    text = (FOLDER / f"google_bounded_{kind}_dp_test_cases.textproto").read_text()
    found = parsed(text)
    cases = [_case(one, kind) for one in found[f"bounded_{kind}_dp_test_case"]]
    return cases, found["validity_parameters"][0], found["voting_parameters"][0]


def _case(one, kind):
    (test,), (sampling,) = one["dp_test_parameters"], one[f"bounded_{kind}_sampling_parameters"]
    assert test["epsilon"] == sampling["epsilon"]
    return Case(
        one["name"][0],
        sampling["noise_type"] == ["GAUSSIAN"],
        sampling["epsilon"][0],
        sampling.get("delta", [0.0])[0],
        test["delta_tolerance"][0],
        int(sampling["number_of_samples"][0]),
        sampling["lower_bound"][0],
        sampling["upper_bound"][0],
        tuple(sampling["raw_entry"]),
        tuple(sampling["neighbour_raw_entry"]),
        tuple(sampling.get("rank", ())),
        int(test.get("num_of_buckets", [0])[0]),
        test.get("granularity", [0.0])[0],
    )
