"""Entries for the deployments registry: valid by its schema, true to their releases, marked where a person writes."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nobounds as nb
from nobounds.ask import mean, median
from nobounds.cli.app import app
from nobounds.explaining.registry.entry import registry_entry
from nobounds.explaining.registry.sentences import FILL_IN, NO_TUNING
from nobounds.explaining.registry.text import registry_yaml
from nobounds.research.baselines import emq_quantile

yaml = pytest.importorskip("yaml")
jsonschema = pytest.importorskip("jsonschema")

SCHEMA = yaml.safe_load(
    (Path(__file__).parents[2] / "outside" / "data" / "registry" / "deployments-schema.yaml").read_text()
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
X = np.random.default_rng(0).lognormal(10, 1, 3000)
TABLE = {"who": np.arange(3000) // 3, "town": np.arange(3000) % 4, "pay": X}


def seeded():
    return random.Random(1)


def people():
    return nb.Table(TABLE, unit="who", rows_per_unit=3)


MADE = {
    "quantile": lambda: nb.quantile(X, 0.9, epsilon=1, rng=seeded()),
    "stated bound": lambda: nb.quantile(X, 0.9, epsilon=1, lower=0, rng=seeded()),
    "own ladder": lambda: nb.quantile(X, 0.5, epsilon=1, ladder=nb.Ladder.geometric(2), rng=seeded()),
    "swap": lambda: nb.mean(X, rho=0.1, neighbors="swap", rng=seeded()),
    "groups": lambda: people().group_by("town", keys=[0, 1]).sum("pay", epsilon=1, rng=seeded()),
    "chosen groups": lambda: people().group_by("town", delta=1e-6).sum("pay", epsilon=1, rng=seeded()),
    "describe": lambda: nb.describe({"pay": X}, epsilon=1, rng=seeded()),
    "answers": lambda: people().agg(mean("pay"), median("pay"), epsilon=1, rng=seeded()),
    "vector": lambda: nb.vector_mean(np.ones((300, 3)), epsilon=1, delta=1e-6, rng=seeded()),
    "filter": lambda: nb.Table(TABLE).where("pay > 3").mean("pay", epsilon=1, rng=seeded()),
    "histogram": lambda: nb.histogram(X, epsilon=1, rng=seeded()),
}


def entry(*releases, version="0.1.0"):
    """The entry on releases."""
    return registry_entry([json.loads(each.to_json()) for each in releases], version)


def flat(value):
    """All texts of an entry in one line."""
    if isinstance(value, dict):
        return " ".join(map(flat, value.values()))
    return " ".join(map(flat, value)) if isinstance(value, list) else " ".join(str(value).split())


@pytest.mark.medium
@pytest.mark.parametrize("name", MADE)
def test_an_entry_is_valid_and_its_yaml_says_the_same(name):
    """The registry's schema accepts the entry, and its YAML is read back as the entry, but for line breaks."""
    written = entry(MADE[name]())
    text = registry_yaml(written)
    again = yaml.safe_load(text)
    VALIDATOR.validate(again)
    assert flat(again) == flat(written)
    assert (
        again["deployment"]["privacy_loss"]["privacy_parameters"]
        == (written["deployment"]["privacy_loss"]["privacy_parameters"])
    )
    assert text.startswith(f"# Written from releases. {text.count(FILL_IN)} places") and text.count(FILL_IN) > 15
    assert " ".join(NO_TUNING.split()) in flat(again)


def test_the_schema_refuses_what_is_no_entry():
    """A variant that it does not know, a field that it does not have and an epsilon as a text are refused."""
    for change in ("variant", "field", "epsilon"):
        written = entry(MADE["quantile"]())
        deployment = written["deployment"]
        if change == "variant":
            deployment["dp_variant"]["variant_name"] = "Almost DP"
        elif change == "field":
            deployment["basic"]["bounds"] = "0 to 100"
        else:
            deployment["privacy_loss"]["privacy_parameters"]["epsilon"] = "1"
        assert not VALIDATOR.is_valid(written)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "variant", "parameters", "unit"),
    [
        ("quantile", "Pure DP", {"epsilon": 1.0}, "One row of the table"),
        ("swap", "Zero-concentrated DP", {"rho": 0.1}, "One row of the table"),
        ("chosen groups", "Approximate DP", {"epsilon": 1.0, "delta": 1e-6}, "One who, with all of its rows"),
    ],
)
def test_variant_parameters_and_unit_are_those_of_the_release(name, variant, parameters, unit):
    """Pure, approximate and zero-concentrated losses have their names, and no parameter that they lack."""
    deployment = entry(MADE[name]())["deployment"]
    assert deployment["dp_variant"]["variant_name"] == variant
    loss = deployment["privacy_loss"]
    assert loss["privacy_parameters"] == pytest.approx(parameters, rel=1e-4) and loss["privacy_unit"] == unit


@pytest.mark.medium
def test_what_is_public_is_listed_and_asked_about():
    """Stated bounds, candidates, keys, filters and the number of rows under swap are among what is not protected."""
    expected = {
        "stated bound": "a lower bound of 0",
        "own ladder": "candidates of the asker",
        "groups": "The keys of the groups are public",
        "filter": "pay",
        "swap": "The number of rows is public",
    }
    for name, words in expected.items():
        assert words in entry(MADE[name]())["deployment"]["dp_variant"]["unprotected_quantities"], name
    nothing = "Nothing was stated about the values"
    tuning = {
        name: entry(MADE[name]())["deployment"]["implementation"]["preprocessing_and_hyperparameter_tuning"]
        for name in ("quantile", "stated bound", "filter", "describe")
    }
    assert [name for name, text in tuning.items() if nothing in text] == ["quantile"]
    assert "The asker stated as public: a lower bound of 0. FILL IN: where that is known from" in tuning["stated bound"]


def test_the_mechanisms_are_those_of_the_statistics():
    """A quantile names no noise on sums, and groups with private keys name the choice of keys."""
    ranks, sums = (
        entry(MADE[name]())["deployment"]["implementation"]["mechanisms"] for name in ("quantile", "chosen groups")
    )
    assert "AboveThreshold along a ladder" in ranks and "exact sum of the clipped" not in ranks
    assert "exact sum of the clipped" in sums and "a key is shown if" in sums


def test_losses_of_several_releases_add_up():
    """Without a budget the total is the sum, and losses of different units or without a common bound are refused."""
    two = entry(MADE["quantile"](), MADE["describe"]())
    assert two["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.0}
    with pytest.raises(ValueError, match="same neighbours and privacy unit"):
        entry(MADE["quantile"](), MADE["groups"]())
    with pytest.raises(ValueError, match="no common bound"):
        registry_entry([_with(rho=0.1), _with(epsilon=1.0, delta=1e-6)], "0.1.0")


def _with(**loss):
    """The JSON of a quantile with another loss."""
    content = json.loads(MADE["quantile"]().to_json())
    content["loss"] = {"epsilon": None, "rho": None, "eta": None, "neighbors": "add-remove", "unit": "row"} | loss
    return content


@pytest.mark.medium
def test_a_budget_is_the_total_if_the_releases_were_charged_to_it(tmp_path):
    """Releases and `budget show --json` make one entry with what all charges cost; another budget is refused."""
    path = tmp_path / "people.budget"
    budget = nb.Budget(epsilon=3, path=path)
    (tmp_path / "summary.json").write_text(nb.describe({"pay": X}, epsilon=1, budget=budget).to_json())
    nb.count(X, epsilon=0.5, budget=budget)
    (tmp_path / "other.json").write_text(nb.count(X, epsilon=0.25).to_json())
    (tmp_path / "budget.json").write_text(invoke("budget", "show", path, "--json").stdout)
    shown = invoke("explain", "--registry", tmp_path / "summary.json", tmp_path / "budget.json")
    written = yaml.safe_load(shown.stdout)
    VALIDATOR.validate(written)
    loss = written["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 1.5}
    details = " ".join(loss["privacy_parameters_details"].split())
    assert "charged to a budget of epsilon 3. Number of charges: 2." in details
    assert "this entry does not describe: 1." in details
    refused = invoke("explain", "--registry", tmp_path / "other.json", tmp_path / "budget.json")
    assert refused.exit_code and "no charge of the budget has the loss of release 1" in refused.stderr


def invoke(*given):
    return CliRunner().invoke(app, [str(word) for word in given])


def test_what_is_no_release_has_no_entry(tmp_path):
    """Forecasts, budgets alone and methods that are for comparison only are refused in words."""
    with pytest.raises(ValueError, match="written from releases"):
        entry(nb.plan("quantile", q=0.5, n=100, data="uniform", epsilon=2, lower=0, upper=1))
    with pytest.raises(ValueError, match="not for publication"):
        entry(emq_quantile(X, 0.5, epsilon=1, lower=0, upper=1e6, rng=np.random.default_rng(1)))
    with pytest.raises(ValueError, match="at least one release"):
        registry_entry([{"epsilon": 1, "charges": [], "remaining": 1}], "0.1.0")
    file = tmp_path / "release.json"
    file.write_text(MADE["quantile"]().to_json())
    for words in (["--markdown"], ["--n", "5"]):
        assert "--registry cannot be combined with" in invoke("explain", "--registry", file, *words).stderr
    assert "takes one FILE" in invoke("explain", file, file).stderr


@pytest.mark.parametrize("name", ["pay\nstatus: Approved", "a\x1b[2J", "- x: |", "$x$ # no", "\u2028y"])
def test_a_name_of_a_column_cannot_write_fields(name):
    """Names with line breaks, YAML or Markdown in them stay text in their field."""
    release = nb.Table({name: X}).mean(name, epsilon=1, rng=seeded())
    text = registry_yaml(entry(release))
    again = yaml.safe_load(text)
    VALIDATOR.validate(again)
    assert again["status"] == "Draft" and set(again) == {"url_slug", "status", "tier", "deployment"}
    assert "\x1b" not in text and not re.search(r"(?<!\\)\$", again["deployment"]["basic"]["description"])
