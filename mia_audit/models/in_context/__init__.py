"""A small in-context classifier of our own: its prior, its pretraining and its weights.

The weights have the architecture of TabPFN v2 and are loaded by the real
tabpfn.TabPFNClassifier, so the in-context path of an audit runs everywhere without a download.
`python -m mia_audit.models.in_context.pretrain` made them; `pretraining.log` is its output.
"""

from pathlib import Path

# tabpfn reads the version of its defaults out of the file's name.
CHECKPOINT = Path(__file__).with_name("mia-audit-small-tabpfn-v2-classifier.ckpt")

# The widest tables of the prior.
MOST_COLUMNS = 30
