"""What a release does not promise, and to whom."""

from nobounds.accounting.loss import PrivacyLoss
from nobounds.explaining.protection import factor_up, whom
from nobounds.explaining.words import Paragraph


def limits(loss: PrivacyLoss, public: tuple[str, ...] = (), keys: str | None = None, query: bool = False) -> Paragraph:
    """What is not promised; `public` are facts that the caller stated, `keys` says whether group keys were public."""
    sentences = [_of_result(loss)] if query else []
    if loss.unit == "row":
        twice = (
            f" With two rows the factor above is {factor_up(2 * loss.epsilon)} at most."
            if not loss.delta and loss.epsilon < 350
            else ""
        )
        sentences.append(
            f"A person with several rows is protected less, the less the more rows they have.{twice} "
            "If people can have several rows, ask with a unit (the column that says whose row it is) instead."
        )
    else:
        one = whom(loss)
        sentences.append(
            f"A {one} is identified by the exact text in the table: a person with two spellings counts as two."
        )
    if keys == "public":
        sentences.append("The groups were named by the asker as public knowledge: that they exist is not protected.")
    elif keys == "private":
        sentences.append(
            "A group is shown only if enough are in it; that a group is shown says so much, "
            "and this is part of the price."
        )
    if public:
        facts = ", ".join(public)
        sentences.append(f"Treated as public, because it was stated or follows from the type of the column: {facts}.")
    sentences += [
        "Other releases from the same data add to this one: their losses add up. "
        "A budget file keeps count, and refuses what does not fit.",
        together(loss),
        "What is true of many people (for example, that incomes in a town are high) can be learned, "
        "also about those who are not in the data: that is what the release is for.",
        "That this question was asked, when, and how long the answer took are not hidden.",
        "This explanation trusts its file: nobody signed it, and it cannot show whether the noise was drawn from a "
        "seed, which would undo the promise.",
    ]
    return Paragraph("What is not promised", tuple(sentences))


def _of_result(loss: PrivacyLoss) -> str:
    """The warning that one row of the tables below a query may change several rows of its result."""
    one = "one row of the query's result" if loss.unit == "row" else f"the rows that one {whom(loss)} has in the result"
    return (
        f"The protection is for {one}. If one person, or one row of the tables underneath, can change several rows of "
        "the result (by a join, an aggregate, a window, a limit or distinct), that is not covered."
    )


def together(loss: PrivacyLoss) -> str:
    """For whom the bounds on odds and guesses do not hold."""
    one = whom(loss)
    return (
        f"Anyone who believes that a {one} is linked to many others (as a family, a village or a copy does) "
        "can learn more about it than the factor and the guess above say, from what is true of the many."
    )
