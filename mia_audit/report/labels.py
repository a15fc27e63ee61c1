"""One readable name, one sentence, one colour a method: the same in tables, page and figures."""

from dataclasses import dataclass, replace

ESTIMATED = "_estimated"
HEADLINE = "post_empirical"

MEMBER_COLOUR = "#0072B2"
NON_MEMBER_COLOUR = "#8A8F98"
INK, QUIET, FAINT = "#1d2129", "#646b76", "#d9dce1"


@dataclass(frozen=True)
class MethodLabel:
    """How a method is shown, under one name on the terminal and on the page.

    `title` has at most 22 characters, for an 80-column terminal.
    """

    title: str
    sentence: str
    colour: str
    marker: str = "o"


_LABELS = {
    "naive": MethodLabel(
        "Naive LiRA",
        "One cut-off on the likelihood ratios of all records together: the false-positive rate "
        "is met on average only, and some records bear far more of it than others.",
        "#D55E00",
        "s",
    ),
    "attack": MethodLabel(
        "Chosen attack",
        "The attack chosen in the configuration, with one cut-off for all records together.",
        "#B5548F",
        "D",
    ),
    "post_empirical": MethodLabel(
        "Calibrated (headline)",
        "Scores standardised record by record, then one cut-off read from the non-member scores: "
        "every record has the same false-positive rate. This is the headline.",
        "#0072B2",
    ),
    "post_conditional": MethodLabel(
        "Conditional",
        "As the headline, with a cut-off of its own for records of similar difficulty, so that "
        "differences in the shape of the scores are followed.",
        "#3F9FD8",
        "^",
    ),
    "post_regression": MethodLabel(
        "Shape regression",
        "As the headline, with a cut-off for each record that a regression over the other records "
        "predicts from its mean, spread and skewness; then one shift for all.",
        "#56358C",
        "<",
    ),
    "post_normal": MethodLabel(
        "Normal",
        "The cut-off of a normal distribution: with few models it lets through more false "
        "positives than it says.",
        "#E69F00",
        "v",
    ),
    "post_student_t": MethodLabel(
        "Student-t, fitted",
        "The cut-off of a Student-t distribution fitted to all non-member scores.",
        "#7A9A01",
        ">",
    ),
    "post_student_t_exact": MethodLabel(
        "Student-t, exact",
        "The cut-off that is exact when scores are normal, for any number of models.",
        "#009E73",
        "P",
    ),
    "per_record": MethodLabel(
        "Per record",
        "A cut-off for every record from its own non-member scores: the reference, noisy when "
        "models are few. Its false-positive rate equals the level by construction.",
        "#5F6773",
        "x",
    ),
    "per_record_normal": MethodLabel(
        "Per record, normal",
        "The same reference computed from the means and variances of each record, if its scores "
        "are normal.",
        "#9AA1AC",
        "+",
    ),
    "population": MethodLabel(
        "For the population",
        "The mean over records if training sets were fresh draws from the population, computed "
        "from corrected means and variances.",
        "#8C6D31",
        "h",
    ),
    "target": MethodLabel(
        "The existing model",
        "The model handed in, judged against the models trained here.",
        "#6A4FB3",
        "*",
    ),
}


def label_of(method: str, *, attack: str = "") -> MethodLabel:
    """The label of `method`, or its own name if unknown; `attack` names the chosen attack."""
    if method.endswith(ESTIMATED):
        base = label_of(method.removesuffix(ESTIMATED))
        return replace(
            base,
            title=_fit(f"{base.title}, est."),
            sentence=f"{base.sentence} The direction of the shift is estimated for each record, "
            "as in the paper, which inflates the false-positive rate where there is no shift.",
        )
    if method == "attack" and attack:
        return replace(_LABELS["attack"], title=_fit(f"Attack: {attack}"))
    return _LABELS.get(method) or MethodLabel(_fit(method), "", QUIET)


def _fit(text: str, width: int = 22) -> str:
    return text if len(text) <= width else text[: width - 1] + "."
