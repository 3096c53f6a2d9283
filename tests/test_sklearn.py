"""PrivateClipper: an estimator like any other, whose bounds are private and whose cost is known before the data."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import nobounds as nb
from nobounds.sklearn import PrivateClipper

X = np.random.default_rng(1).lognormal([3, 0], [1, 2], (5000, 2))


@pytest.mark.medium
@parametrize_with_checks([PrivateClipper(), PrivateClipper((0.05, 0.95), epsilon=0.3, neighbors="swap")])
def test_it_is_an_estimator_like_any_other(estimator, check):
    """All of scikit-learn's own checks."""
    check(estimator)


def test_bounds_are_near_the_true_quantiles_and_records_within_them():
    """With epsilon 5 on 5000 rows, within a fifth."""
    clipper = PrivateClipper((0.05, 0.95), epsilon=5, random_state=3).fit(X)
    low, high = np.quantile(X, [0.05, 0.95], axis=0)
    assert clipper.lower_ == pytest.approx(low, rel=0.2) and clipper.upper_ == pytest.approx(high, rel=0.2)
    clipped = clipper.transform(X)
    assert np.all((clipper.lower_ <= clipped) & (clipped <= clipper.upper_))
    inside = (clipper.lower_ <= X) & (clipper.upper_ >= X)
    assert np.array_equal(clipped[inside], X[inside])


def test_epsilon_is_for_all_features_and_is_charged_once():
    """Two features get half of it each."""
    budget = nb.Budget(epsilon=3)
    clipper = PrivateClipper((0.1, 0.9), epsilon=2, budget=budget, random_state=7).fit(X)
    assert budget.remaining == 1 and clipper.loss_.epsilon == 2
    with pytest.raises(nb.BudgetExceeded):
        PrivateClipper(epsilon=2, budget=budget).fit(X)


@pytest.mark.medium
def test_odd_values_do_not_raise():
    """NaN stays missing, infinities are clipped, and no error tells that they are there."""
    odd = X.copy()
    odd[0], odd[1] = np.nan, np.inf
    clipper = PrivateClipper(epsilon=5, random_state=1).fit(odd)
    found = clipper.transform(odd)
    assert np.isnan(found[0]).all() and np.array_equal(found[1], clipper.upper_)
    assert np.isfinite(clipper.upper_).all()
    texts = X.astype(object)
    texts[0, 0], texts[1, 1] = "secret", 10**400
    assert PrivateClipper(epsilon=5, random_state=1).fit(texts).upper_ == pytest.approx(clipper.upper_, rel=0.1)


def test_it_works_in_a_pipeline_and_on_data_frames():
    """Names of features go through."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["income", "age"])
    pipeline = make_pipeline(PrivateClipper(epsilon=1, random_state=1), StandardScaler()).fit(frame)
    assert list(pipeline.get_feature_names_out()) == ["income", "age"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"quantile_range": (0.5, 2)}, "q must be"),
        ({"neighbors": "none"}, "neighbors must"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    """When it is fitted, as estimators do."""
    with pytest.raises(ValueError, match=words):
        PrivateClipper(**options).fit(X)


def fractional(make, records) -> int:
    """How many of ten fits have a bound that is no whole number."""
    fitted = (PrivateClipper(epsilon=1, random_state=seed).fit(make(records)) for seed in range(10))
    return sum(bool((np.stack([each.lower_, each.upper_]) % 1).any()) for each in fitted)


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["polars", "arrow", "pandas", "pandas with Arrow", "category"])
def test_a_null_does_not_change_the_ladder(kind):
    """Whole numbers have whole bounds by their declared type; a category declares none, and may hold fractions."""
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    make = {
        "polars": lambda x: polars.DataFrame({"x": polars.Series(x, dtype=polars.Int64)}),
        "arrow": lambda x: arrow.table({"x": arrow.array(x, arrow.int64())}),
        "pandas": lambda x: pandas.DataFrame({"x": pandas.array(x, dtype="Int64")}),
        "pandas with Arrow": lambda x: pandas.DataFrame({"x": pandas.array(x, dtype="int64[pyarrow]")}),
        "category": lambda x: pandas.DataFrame({"x": pandas.Categorical([r if r is None else r / 1024 for r in x])}),
    }[kind]
    records = np.random.default_rng(0).integers(0, 1000, 2000).tolist()
    without, with_null = fractional(make, records), fractional(make, [*records[1:], None])
    assert (without > 0, with_null > 0) == (kind == "category",) * 2


@pytest.mark.medium
def test_columns_of_a_frame_have_their_own_types():
    """Whole numbers beside floats have whole bounds; text, dates and complex numbers are refused by name and type."""
    pandas = pytest.importorskip("pandas")
    whole = np.random.default_rng(0).integers(0, 1000, 2000)
    frame = pandas.DataFrame({"age": whole, "pay": whole + 0.5, "odd": pandas.Series([*whole[1:], "x"], dtype=object)})
    clipper = PrivateClipper(epsilon=30, random_state=1).fit(frame)
    assert clipper.upper_[0] % 1 == 0 and list(clipper.feature_names_in_) == ["age", "pay", "odd"]
    assert clipper.upper_ == pytest.approx([989, 989.5, 989], abs=10)
    assert np.isnan(clipper.transform(frame)[-1]).tolist() == [False, False, True]
    assert clipper.transform(frame.astype({"odd": object})).dtype == np.float64
    single = pandas.DataFrame({"age": whole, "pay": whole}, dtype=np.float32)
    assert PrivateClipper(random_state=1).fit_transform(single).dtype == np.float32
    for column in (pandas.Series(["x"] * 2000), pandas.date_range("2024", periods=2000), whole * 1j):
        budget = nb.Budget(epsilon=1)
        with pytest.raises(TypeError, match="feature 'odd': data must have an integer, float or boolean type"):
            PrivateClipper(epsilon=1, budget=budget).fit(frame.assign(odd=column))
        assert budget.remaining == 1
    for empty in (frame[:0], frame[[]]):
        with pytest.raises(ValueError, match="a minimum of 1 is required"):
            PrivateClipper().fit(empty)


def test_masked_records_are_missing():
    """numpy would take what is under the mask for a record."""
    masked = np.ma.masked_greater(X, 30)
    clipper = PrivateClipper((0.5, 1), epsilon=30, random_state=1).fit(masked)
    assert clipper.upper_.max() <= 31
    assert np.isnan(clipper.transform(masked)).sum() == masked.mask.sum()


@pytest.mark.parametrize("ranks", [(), (0.5,), (0.01, 0.5, 0.99)])
def test_a_range_has_two_ends(ranks):
    """Another number of quantiles is refused before anything is charged."""
    budget = nb.Budget(epsilon=1)
    with pytest.raises(ValueError, match="quantile_range must have"):
        PrivateClipper(epsilon=1, quantile_range=ranks, budget=budget).fit(np.ones((10, 2)))
    assert budget.spent is None
