"""Adult (census income): 48,842 people, does a person earn more than 50,000 dollars a year?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import MISSING, Categorical, Column, Encoding, Numeric, as_text
from mia_audit.data.known import KnownTable
from mia_audit.data.network import Source

if TYPE_CHECKING:
    import pandas as pd

# fmt: off
COLUMNS: tuple[Column, ...] = (
    Numeric("age", 38.64358543876172, 13.71036957798689),
    Categorical("workclass", (
        "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc",
        "State-gov", "Without-pay", MISSING)),
    Numeric("fnlwgt", 189664.13459727284, 105602.94433960247),
    Categorical("education", (
        "10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Assoc-acdm", "Assoc-voc",
        "Bachelors", "Doctorate", "HS-grad", "Masters", "Preschool", "Prof-school",
        "Some-college")),
    Numeric("education-num", 10.078088530363212, 2.5709464361754084),
    Categorical("marital-status", (
        "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent",
        "Never-married", "Separated", "Widowed")),
    Categorical("occupation", (
        "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
        "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv",
        "Prof-specialty", "Protective-serv", "Sales", "Tech-support", "Transport-moving",
        MISSING)),
    Categorical("relationship", (
        "Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife")),
    Categorical("race", ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")),
    Categorical("sex", ("Female", "Male")),
    Numeric("capital-gain", 1079.0676262233324, 7451.942770267475),
    Numeric("capital-loss", 87.50231358257237, 403.0004265089569),
    Numeric("hours-per-week", 40.422382375824085, 12.391317171262553),
    Categorical("native-country", (
        "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador",
        "El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti",
        "Holand-Netherlands", "Honduras", "Hong", "Hungary", "India", "Iran", "Ireland", "Italy",
        "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru",
        "Philippines", "Poland", "Portugal", "Puerto-Rico", "Scotland", "South", "Taiwan",
        "Thailand", "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia", MISSING)),
)
# fmt: on


def normalise(answer: pd.DataFrame) -> pd.DataFrame:
    """UCI marks part of the missing values ``?`` and ends the test labels with a full stop."""
    frame = answer.rename(columns={"class": "income"})
    for name in frame.columns:
        text = as_text(frame[name]).str.strip().str.removesuffix(".")
        frame[name] = text.where(text.ne("?") & text.notna(), None)
    return frame


ADULT = KnownTable(
    name="adult",
    columns=COLUMNS,
    target="income",
    classes={"<=50K": "<=50K", ">50K": ">50K"},
    uci_id=2,
    openml_id=1590,
    normalise=normalise,
    notes=(
        "Adult: UCI's training rows, then its test rows.",
        "workclass, occupation and native-country have missing values (3,620 rows).",
    ),
)


@dataclass
class Adult:
    """The Adult data set (UCI 2, CC BY 4.0), 14 columns.

    Under ``one_hot`` all 48,842 rows are kept and a missing category is a level of its own
    (108 features); ``codes`` is the papers' encoding: the 45,222 complete rows, categories as
    alphabetical integer codes, numbers raw (14 features). A balanced pool of every row then has
    2 × 11,208 records.
    """

    pool: int | None = 4000
    balanced: bool = False
    encoding: Encoding = Encoding.one_hot
    source: Source = Source.bundled

    @property
    def name(self) -> str:
        return ADULT.name

    def load(self) -> Dataset:
        """Every row of the table, encoded; draw_pool takes the pool from it."""
        return ADULT.load(self.source, self.encoding)
