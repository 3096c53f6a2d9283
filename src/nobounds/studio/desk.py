"""The desk: where a question is charged to a budget and answered.

A form that spends carries a key, which is valid for one question. The same form sent twice returns the same answers,
and an unknown key spends nothing. Reloading a page, or sending a form from before a crash, is therefore never charged.
"""

import secrets
from collections import OrderedDict
from pathlib import Path
from threading import Lock

import nobounds as nb
from nobounds.accounting.spending import Purse
from nobounds.engines.refusals import raise_alone
from nobounds.studio.results.shelf import Inquiry, KeptAnswers, Shelf

_KEYS = 10_000  # remembered at most


class NotCharged(ValueError):
    """The form cannot be used; nothing was charged."""


class Charged(RuntimeError):
    """The budget was charged, but there is no answer."""


class Desk:
    """Answers questions one at a time, and keeps the answers on the shelf of their budget."""

    def __init__(self) -> None:
        self._shelves: dict[Path, Shelf] = {}
        self._keys: OrderedDict[str, KeptAnswers | None] = OrderedDict()
        self._lock = Lock()

    def shelf(self, budget: Path) -> Shelf:
        """The shelf of a budget."""
        return self._shelves.setdefault(budget, Shelf(budget))

    def key(self) -> str:
        """A new key for a form."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._keys[key] = None
            while len(self._keys) > _KEYS:
                self._keys.popitem(last=False)
        return key

    def answer(self, key: str, inquiry: Inquiry, budget: Path) -> KeptAnswers:
        """Charge the budget, read the data and keep the answers; a used key returns those that it was used for."""
        with self._lock:
            if key not in self._keys:
                raise NotCharged(
                    "this form is from before the studio was started; nothing was charged by sending it now: "
                    "look at the answers, and go on with the new form"
                )
            done = self._keys[key]
            if done is not None and done.inquiry == inquiry:
                return done
            if done is not None:
                raise NotCharged(
                    "this form was good for one question, which was answered, and it has changed since; nothing more "
                    "was charged: look at the answers, and go on with the new form"
                )
            recipe, purse = inquiry.recipe(budget), Purse(nb.Budget(path=budget).noted(label=_label(inquiry)))
            options = recipe.layout.options | {"neighbors": recipe.question.neighbors}
            try:
                with inquiry.source.opened(budget=purse, **options) as table:
                    answers = recipe.question.answers(table)
            except Exception:
                if purse.loss is None:
                    raise
                del self._keys[key]  # its answer is paid for
                # The original error may quote a record, and uncaught errors are logged: it is left out.
                raise_alone(
                    Charged(
                        f"the budget was charged ({purse.loss}) before the data were read, and then there was no answer"
                    )
                )
            del self._keys[key]  # the key is used up, whatever happens to the answers
            kept = self.shelf(budget).put(inquiry, answers)
            self._keys[key] = kept
            return kept


def _label(inquiry: Inquiry) -> str:
    """The name of the data in the history of the budget."""
    return inquiry.source.name
