"""Default of credit card clients: 30,000 clients, does the next payment fail?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import Categorical, Column, Encoding, Numeric
from mia_audit.data.known import KnownTable
from mia_audit.data.network import Source

if TYPE_CHECKING:
    import pandas as pd

# −2 nothing spent, −1 paid in full, 0 the minimum paid, 1 … 8 months late. Nobody was one month
# late in PAY_5 and PAY_6.
STATUS = ("-2", "-1", "0", "1", "2", "3", "4", "5", "6", "7", "8")
NEVER_ONE = tuple(level for level in STATUS if level != "1")

COLUMNS: tuple[Column, ...] = (
    Numeric("LIMIT_BAL", 167484.32266666667, 129745.49908815547),
    Categorical("SEX", ("1", "2")),
    Categorical("EDUCATION", ("0", "1", "2", "3", "4", "5", "6")),
    Categorical("MARRIAGE", ("0", "1", "2", "3")),
    Numeric("AGE", 35.4855, 9.217750435075434),
    Categorical("PAY_0", STATUS),
    Categorical("PAY_2", STATUS),
    Categorical("PAY_3", STATUS),
    Categorical("PAY_4", STATUS),
    Categorical("PAY_5", NEVER_ONE),
    Categorical("PAY_6", NEVER_ONE),
    Numeric("BILL_AMT1", 51223.3309, 73634.63330095926),
    Numeric("BILL_AMT2", 49179.07516666667, 71172.58254316323),
    Numeric("BILL_AMT3", 47013.1548, 69348.23159428104),
    Numeric("BILL_AMT4", 43262.94896666666, 64331.78391071215),
    Numeric("BILL_AMT5", 40311.40096666667, 60796.142475891174),
    Numeric("BILL_AMT6", 38871.7604, 59553.11496001524),
    Numeric("PAY_AMT1", 5663.5805, 16563.004297052707),
    Numeric("PAY_AMT2", 5921.1635, 23040.486384350363),
    Numeric("PAY_AMT3", 5225.6815, 17606.668017999822),
    Numeric("PAY_AMT4", 4826.076866666666, 15665.898639193714),
    Numeric("PAY_AMT5", 4799.387633333334, 15278.051038594782),
    Numeric("PAY_AMT6", 5215.502566666667, 17777.169481869907),
)


def normalise(answer: pd.DataFrame) -> pd.DataFrame:
    """UCI and OpenML number the columns X1 … X23 and call the target Y (OpenML in lower case)."""
    numbered = {f"X{at}": column.name for at, column in enumerate(COLUMNS, start=1)}
    spelled = {"Y": "default", "DEFAULT PAYMENT NEXT MONTH": "default"}
    own = {column.name: column.name for column in COLUMNS}
    names = {**own, **numbered, **spelled}
    return answer.rename(
        columns={name: names.get(str(name).strip().upper(), name) for name in answer.columns}
    )


CREDIT_DEFAULT = KnownTable(
    name="credit_default",
    columns=COLUMNS,
    target="default",
    classes={"0": "paid", "1": "default"},
    uci_id=350,
    openml_id=42477,
    normalise=normalise,
    notes=("Credit default: SEX, EDUCATION, MARRIAGE and PAY_* are codes, read as categories.",),
)


@dataclass
class CreditDefault:
    """Default of credit card clients (UCI 350, CC BY 4.0): 30,000 rows, 23 columns, 22 % default.

    91 features under ``one_hot``, 23 under ``codes`` (category codes keep UCI's order, from the
    smallest up); no missing values.
    """

    pool: int | None = 4000
    balanced: bool = False
    encoding: Encoding = Encoding.one_hot
    source: Source = Source.bundled

    @property
    def name(self) -> str:
        return CREDIT_DEFAULT.name

    def load(self) -> Dataset:
        """Every row of the table, encoded; draw_pool takes the pool from it."""
        return CREDIT_DEFAULT.load(self.source, self.encoding)
