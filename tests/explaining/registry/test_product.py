"""The data product of a registry entry: each release once, and a budget only if all of them were charged to it."""

import json

import pytest

import nobounds as nb
from nobounds.explaining.registry.product import Product


def written(release):
    return json.loads(release.to_json())


def charged(*losses):
    """The JSON of a budget with these charges."""
    spent = losses[0]
    for loss in losses[1:]:
        spent += loss
    charges = [{"when": "2026-01-31T12:00:00+00:00", "what": "count", "loss": loss.to_dict()} for loss in losses]
    return {"epsilon": 3, "remaining": 0, "charges": charges, "spent": spent.to_dict()}


def test_releases_of_a_command_are_taken_one_by_one():
    """A list of releases, as commands print it, and releases alone make one product, with each statistic once."""
    one, two = nb.count(range(100), epsilon=0.5), nb.mean(range(1000), epsilon=1)
    both = {"releases": [written(one), written(two)], "loss": (one.loss + two.loss).to_dict()}
    product = Product.read([both, written(one)])
    assert len(product.releases) == 3 and product.statistics == ("count", "mean")
    assert product.loss.epsilon == 2 and product.variant == "Pure DP"


def test_each_release_needs_a_charge_of_its_own():
    """Two equal releases and one charge, or a charge for another unit, are refused."""
    release = nb.count(range(100), epsilon=0.5)
    loss = release.loss
    assert Product.read([written(release), written(release), charged(loss, loss)]).loss.epsilon == 1
    with pytest.raises(ValueError, match="no charge of the budget has the loss of release 2"):
        Product.read([written(release), written(release), charged(loss)])
    other = charged(nb.PrivacyLoss.pure(0.5, unit="user"))
    with pytest.raises(ValueError, match="no charge of the budget has the loss of release 1"):
        Product.read([written(release), other])
    with pytest.raises(ValueError, match="one budget, got 2"):
        Product.read([written(release), charged(loss), charged(loss)])
