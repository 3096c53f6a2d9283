"""The fields of a registry entry: what the releases say, and marks where a person has to fill something in."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import printable, text_up
from nobounds.explaining.protection import meaning, whom
from nobounds.explaining.reading import ReleaseFields
from nobounds.explaining.registry.product import Product, Released
from nobounds.explaining.registry.sentences import (
    ACTORS,
    FILL_IN,
    JUSTIFICATION,
    NO_TUNING,
    POST_PROCESSING,
    mechanisms,
    security,
)
from nobounds.explaining.words import CHOSEN, marked, price

SCHEMA = "opendp/deployments-registry-data, commit 3e9c812a924cf01d228f26f6c462c59c391c3f2a (2026-07-15)"
UNKNOWN_DATE = "1900-01-01"  # the template's date, for an entry that has none yet
_TABLE_FIELDS = ("names and types of columns", "the text of the question and the time at which it was asked")
_LIMITS = {
    "rows_per_unit": "at most {} of the rows of each {} count",
    "groups_per_unit": "each {1} counts in at most {0} groups",
    "values_per_unit": "at most {} of the values of each {} count",
}


def registry_entry(contents: Sequence[Mapping[str, Any]], version: str) -> dict[str, Any]:
    """The entry on releases, and on the budget they were charged to if its JSON is among `contents`.

    version: that of nobounds. Texts are Markdown; a text that begins or ends with FILL IN is for a person to write.
    """
    product = Product.read(contents)
    loss = product.loss
    if loss.epsilon == loss.rho == math.inf:
        raise ValueError("these losses have no common bound: charge them to a budget of an epsilon at a delta")
    return {
        "url_slug": "fill-in",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": f"{FILL_IN} the name of the data product",
                "data_curators": [f"{FILL_IN} who publishes it"],
                "intended_use": f"{FILL_IN} what it is for",
                "data_product_type": "Summary statistics",
                "data_product_region": f"{FILL_IN} which region the data describe",
                "description": _text([f"Released: {request}." for request in _requests(product)]),
                "publication_date": UNKNOWN_DATE,
            },
            "dp_variant": {
                "variant_name": product.variant,
                "data_domain": _text(_domain(product)),
                "unprotected_quantities": _text(_unprotected(product)),
            },
            "privacy_loss": {
                "privacy_unit": _text([_unit(product)]),
                "privacy_unit_details": _text(_unit_details(product)),
                "privacy_parameters": _parameters(loss),
                "privacy_parameters_details": _text(_parameter_details(product)),
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": _text(["nobounds reads the data where they are, and noise is added there."]),
                "actors": _text(ACTORS),
                "release_type": "One release" if len(product.releases) == 1 else "Many releases",
                "release_type_details": _text(_release_type(product)),
            },
            "accounting": {
                "post_processing": _text(POST_PROCESSING),
                "composition": _text(_composition(product)),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _text(_preprocessing(product)),
                "mechanisms": _text([*mechanisms(product.statistics, _private_keys(product)), *security(version)]),
                "justification": _text(JUSTIFICATION),
            },
            "administrative": {
                "sources": f"{FILL_IN} where the data product and its documentation are published",
                "notes": _text(
                    [
                        f"Written by nobounds explain --registry (nobounds {version}) for the schema of {SCHEMA}. "
                        "It trusts its files: nobody signed them."
                    ]
                ),
                "registry_authors": [f"{FILL_IN} who wrote this entry"],
            },
        },
    }


def _text(sentences: Iterable[str]) -> str:
    """Sentences as Markdown: alone, or as a list."""
    lines = [marked(sentence) for sentence in sentences]
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)


def _requests(product: Product) -> list[str]:
    return list(dict.fromkeys(request for release in product.releases for request in release.requests))


def _unit(product: Product) -> str:
    loss = product.loss
    if loss.unit == "row":
        return f"One row of the {'result of a query' if product.query else 'table'}"
    return f"One {whom(loss)}, with all of its rows"


def _unit_details(product: Product) -> list[str]:
    loss = product.loss
    relation = (
        "Neighbouring data sets have equally many rows and differ in one of them"
        if loss.neighbors == "swap"
        else f"Neighbouring data sets differ by one {whom(loss)} more or less"
    )
    sentences = [f"{relation} ({loss.neighbors})."]
    for release in product.releases:
        sentences += [f"{_limited(release)}: they are chosen by that unit's rows alone."] if _limited(release) else []
    sentences.append(
        f"{FILL_IN} whether a person can have several rows, and what then protects the person."
        if loss.unit == "row"
        else f"{FILL_IN} what a {whom(loss)} is, and whether a person can be several of them."
    )
    return list(dict.fromkeys(sentences))


def _limited(release: Released) -> str:
    """How much of a unit counts in a release; empty if all of it does."""
    texts = [
        text.format(f"{most:,}", whom(release.loss))
        for name, text in _LIMITS.items()
        if (most := release.limit(name)) is not None
    ]
    joined = ", and ".join(texts)
    return joined[:1].upper() + joined[1:]


def _domain(product: Product) -> list[str]:
    number = "a fixed, public number of rows" if product.loss.neighbors == "swap" else "any number of rows"
    return [
        f"All tables with {number}, and with columns of the stated names and types. Records may be any value of their "
        "type, missing and infinite ones too: no bound on them is assumed beyond those below.",
        f"{FILL_IN} whose data these are, and how they were collected.",
    ]


def _unprotected(product: Product) -> list[str]:
    public = list(dict.fromkeys(fact for release in product.releases for fact in release.public))
    sentences = [f"Public by assumption: {', '.join(_TABLE_FIELDS)}."]
    if product.loss.neighbors == "swap":
        sentences.append("The number of rows is public, because neighbouring data sets have equally many.")
    if any(release.keys == "public" for release in product.releases):
        sentences.append("The keys of the groups are public: the asker named them.")
    if public:
        sentences.append(f"Stated by the asker as public: {', '.join(public)}.")
    sentences += [release.view for release in product.releases if release.view]
    sentences.append("No statistic of the data was released without noise by nobounds (no invariants).")
    sentences.append(f"{FILL_IN} what else was published from the same data without differential privacy.")
    return list(dict.fromkeys(sentences))


def _parameters(loss: PrivacyLoss) -> dict[str, float]:
    if loss.epsilon == math.inf:
        return {"rho": loss.rho}
    return {"epsilon": loss.epsilon, **({"delta": loss.delta} if loss.delta else {})}


def _parameter_details(product: Product) -> list[str]:
    loss, budget = product.loss, product.budget
    sentences = [
        f"The total is {price(loss)}, rounded up. The loss of each release was fixed before the data were read."
    ]
    if budget is not None:
        charges = [ReleaseFields.of(charge, "charges") for charge in budget.items("charges")]
        kind = "rho" if "rho" in budget else "epsilon"
        at = f" at delta {text_up(budget.spent('delta'))}" if "delta" in budget else ""
        undescribed = len(charges) - len(product.releases)
        sentences.append(
            f"It was charged to a budget of {kind} {text_up(budget.spent(kind))}{at}. Number of charges: "
            f"{len(charges)}. Number of them whose releases this entry does not describe: {undescribed}."
        )
    else:
        sentences.append(f"{FILL_IN} other releases from the same data: their losses add to this one.")
    return [*sentences, *meaning(loss)]


def _release_type(product: Product) -> list[str]:
    many = len(product.releases)
    known = f"This entry describes {many} release{'s' * (many > 1)}."
    if product.budget is not None:
        known += " Their budget is fixed, and refuses what does not fit; it does not reset."
    return [known, f"{FILL_IN} whether there will be more, and when the budget is renewed, if ever."]


def _composition(product: Product) -> list[str]:
    sentences = ["Losses add up (sequential composition), also for questions that follow from earlier answers."]
    if product.budget is not None and "delta" in product.budget:
        sentences.append("The budget adds epsilons and deltas, or rhos (zCDP) that it converts, whichever is less.")
    for release in product.releases:
        split = release.parameters.all_spent("split")
        if len(split) > 1:
            parts = ", ".join(f"{printable(name)} {text_up(part, 3)}" for name, part in split.items())
            sentences.append(f"Within the release of {release.requests[0]}: {price(release.loss)} went into {parts}.")
        if release.keys is not None:
            one = whom(release.loss)
            sentences.append(
                "Groups are disjoint: a row counts in one of them (parallel composition)"
                + (f", and the loss counts each group that a {one} may be in." if release.loss.unit != "row" else ".")
            )
    return list(dict.fromkeys(sentences))


def _preprocessing(product: Product) -> list[str]:
    public = list(dict.fromkeys(fact for release in product.releases for fact in release.public))
    views = list(dict.fromkeys(f"{release.view} {CHOSEN}" for release in product.releases if release.view))
    sentences = [NO_TUNING, *views]
    if public:
        sentences.append(
            f"The asker stated as public: {', '.join(public)}. "
            f"{FILL_IN} where that is known from, if not from the data."
        )
    summary = "describe" in product.statistics
    if summary:
        sentences.append(
            f"A summary does not record bounds and resolutions that were stated. {FILL_IN} which were, and where they "
            "are known from."
        )
    if not (public or views or summary):
        sentences.append("Nothing was stated about the values: no bounds, no resolution, no candidates.")
    sentences.append(f"{FILL_IN} how the data were cleaned before, and how epsilon was chosen.")
    return sentences


def _private_keys(product: Product) -> bool:
    return any(release.keys == "private" for release in product.releases)
