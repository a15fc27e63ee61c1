"""Data sets: bundled tables, users' own tables, and the draw of a pool."""

from mia_audit.data.adult import Adult
from mia_audit.data.credit_default import CreditDefault
from mia_audit.data.dataset import Dataset
from mia_audit.data.encoding import Encoding
from mia_audit.data.german_credit import GermanCredit
from mia_audit.data.network import Source
from mia_audit.data.pool import draw_pool
from mia_audit.data.table import Table

__all__ = [
    "Adult",
    "CreditDefault",
    "Dataset",
    "Encoding",
    "GermanCredit",
    "Source",
    "Table",
    "draw_pool",
]
