"""Configuration imports the models: that must not cost a second of torch."""

import subprocess
import sys


def test_nouns_import_neither_torch_nor_tabpfn_nor_scikit_learn() -> None:
    code = (
        "import sys\n"
        "import mia_audit.models.linear, mia_audit.models.mlp, mia_audit.models.sklearn\n"
        "import mia_audit.models.tabpfn, mia_audit.defences.none, mia_audit.defences.dpsgd\n"
        "heavy = {'torch', 'tabpfn', 'sklearn', 'opacus', 'ray', 'mlflow'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
