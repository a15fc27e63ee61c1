"""Statlog German credit: 1,000 loans, good or bad; the papers' "Credit"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import Categorical, Column, Encoding, Numeric, as_text
from mia_audit.data.known import KnownTable
from mia_audit.data.network import Source

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: tuple[Column, ...] = (
    Categorical("checking_status", ("A11", "A12", "A13", "A14")),
    Numeric("duration", 20.903, 12.052783537424043),
    Categorical("credit_history", ("A30", "A31", "A32", "A33", "A34")),
    Categorical("purpose", ("A40", "A41", "A410", "A42", "A43", "A44", "A45", "A46", "A48", "A49")),
    Numeric("credit_amount", 3271.258, 2821.3251545038192),
    Categorical("savings", ("A61", "A62", "A63", "A64", "A65")),
    Categorical("employment", ("A71", "A72", "A73", "A74", "A75")),
    Numeric("installment_rate", 2.973, 1.1181551770662246),
    Categorical("personal_status_sex", ("A91", "A92", "A93", "A94")),
    Categorical("other_debtors", ("A101", "A102", "A103")),
    Numeric("residence_since", 2.845, 1.1031658986752626),
    Categorical("property", ("A121", "A122", "A123", "A124")),
    Numeric("age", 35.546, 11.36977941738537),
    Categorical("other_installment_plans", ("A141", "A142", "A143")),
    Categorical("housing", ("A151", "A152", "A153")),
    Numeric("existing_credits", 1.407, 0.5773655687690427),
    Categorical("job", ("A171", "A172", "A173", "A174")),
    Numeric("num_dependents", 1.155, 0.36190468358395134),
    Categorical("telephone", ("A191", "A192")),
    Categorical("foreign_worker", ("A201", "A202")),
)

OPENML_NAMES = {
    "savings_status": "savings",
    "installment_commitment": "installment_rate",
    "personal_status": "personal_status_sex",
    "other_parties": "other_debtors",
    "property_magnitude": "property",
    "other_payment_plans": "other_installment_plans",
    "own_telephone": "telephone",
}

# OpenML writes UCI's codes out in words.
OPENML_LEVELS = {
    "checking_status": {"<0": "A11", "0<=X<200": "A12", ">=200": "A13", "no checking": "A14"},
    "credit_history": {
        "no credits/all paid": "A30",
        "all paid": "A31",
        "existing paid": "A32",
        "delayed previously": "A33",
        "critical/other existing credit": "A34",
    },
    "purpose": {
        "new car": "A40",
        "used car": "A41",
        "other": "A410",
        "furniture/equipment": "A42",
        "radio/tv": "A43",
        "domestic appliance": "A44",
        "repairs": "A45",
        "education": "A46",
        "retraining": "A48",
        "business": "A49",
    },
    "savings": {
        "<100": "A61",
        "100<=X<500": "A62",
        "500<=X<1000": "A63",
        ">=1000": "A64",
        "no known savings": "A65",
    },
    "employment": {
        "unemployed": "A71",
        "<1": "A72",
        "1<=X<4": "A73",
        "4<=X<7": "A74",
        ">=7": "A75",
    },
    "personal_status_sex": {
        "male div/sep": "A91",
        "female div/dep/mar": "A92",
        "male single": "A93",
        "male mar/wid": "A94",
    },
    "other_debtors": {"none": "A101", "co applicant": "A102", "guarantor": "A103"},
    "property": {
        "real estate": "A121",
        "life insurance": "A122",
        "car": "A123",
        "no known property": "A124",
    },
    "other_installment_plans": {"bank": "A141", "stores": "A142", "none": "A143"},
    "housing": {"rent": "A151", "own": "A152", "for free": "A153"},
    "job": {
        "unemp/unskilled non res": "A171",
        "unskilled resident": "A172",
        "skilled": "A173",
        "high qualif/self emp/mgmt": "A174",
    },
    "telephone": {"none": "A191", "yes": "A192"},
    "foreign_worker": {"yes": "A201", "no": "A202"},
    "class": {"good": "1", "bad": "2"},
}


def normalise(answer: pd.DataFrame) -> pd.DataFrame:
    """UCI numbers the columns Attribute1 … 20; OpenML has names and levels of its own."""
    numbered = {f"Attribute{at}": column.name for at, column in enumerate(COLUMNS, start=1)}
    frame = answer.rename(columns={**numbered, **OPENML_NAMES})
    for name, codes in OPENML_LEVELS.items():
        if name in frame.columns:
            frame[name] = as_text(frame[name]).replace(codes)
    return frame


GERMAN_CREDIT = KnownTable(
    name="german_credit",
    columns=COLUMNS,
    target="class",
    classes={"1": "good", "2": "bad"},
    uci_id=144,
    openml_id=31,
    normalise=normalise,
    notes=("German credit: UCI's codes A11 … A202 are the levels of its categories.",),
)


@dataclass
class GermanCredit:
    """The Statlog German credit data (UCI 144, CC BY 4.0): 1,000 rows, 20 columns, 30 % bad.

    61 features under ``one_hot``, 20 under ``codes``; no missing values.
    """

    pool: int | None = None
    balanced: bool = False
    encoding: Encoding = Encoding.one_hot
    source: Source = Source.bundled

    @property
    def name(self) -> str:
        return GERMAN_CREDIT.name

    def load(self) -> Dataset:
        """Every row of the table, encoded; draw_pool takes the pool from it."""
        return GERMAN_CREDIT.load(self.source, self.encoding)
