"""The prior, the pretraining and the bundled weights of the small in-context classifier."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import QuantileTransformer

from mia_audit.data import CreditDefault, draw_pool
from mia_audit.models import in_context
from mia_audit.models.in_context.pretrain import class_share_loss, pretrain
from mia_audit.models.in_context.prior import Tasks, context_quantiles, draw_tasks
from mia_audit.models.tabpfn import BUNDLED, TabPFN
from tests.models.tables import gaussian_table

MIB = 2**20


def draw(seed: int, *, tasks: int = 6, rows: int = 300, context: int = 200) -> Tasks:
    return draw_tasks(tasks, rows, context, 8, torch.Generator().manual_seed(seed))


def test_tables_have_both_classes_in_context_and_quantiles_for_columns() -> None:
    drawn = [draw(seed, rows=40, context=20) for seed in range(50)]
    for tasks in drawn:
        assert tasks.X.shape == (40, 6, 8)
        assert tasks.y.shape == (40, 6)
        known = tasks.y[:20].mean(0)
        assert ((known > 0) & (known < 1)).all()
        seen = tasks.X[~tasks.X.isnan()]
        assert ((seen >= 0) & (seen <= 1)).all()
    assert any(tasks.X.isnan().any() for tasks in drawn), "some tables have missing entries"
    again = draw(3, rows=40, context=20)
    torch.testing.assert_close(again.X, drawn[3].X, equal_nan=True)
    torch.testing.assert_close(again.y, drawn[3].y)


def test_columns_are_continuous_in_levels_and_in_meaningless_codes() -> None:
    levels = [
        len(np.unique(column[~np.isnan(column)]))
        for seed in range(20)
        for column in draw(seed).X.permute(1, 2, 0).reshape(-1, 300).numpy()
    ]
    assert min(levels) <= 2
    assert max(levels) > 150
    assert np.mean(np.array(levels) <= 16) == pytest.approx(0.55, abs=0.1)


def test_quantiles_equal_a_plain_count_and_nearly_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    observed = np.round(rng.normal(size=(2, 90, 3)), 1)
    found = context_quantiles(torch.tensor(observed), 60).numpy()
    for task in range(2):
        for column in range(3):
            known = observed[task, :60, column]
            expected = [
                (np.sum(known < v) + np.sum(known <= v)) / 120 for v in observed[task, :, column]
            ]
            np.testing.assert_allclose(found[task, :, column], expected, rtol=1e-6)
        fitted = QuantileTransformer(n_quantiles=60).fit(observed[task, :60])
        theirs = fitted.transform(observed[task])
        assert np.abs(theirs - found[task]).max() < 0.06


def test_the_labels_can_be_learned_but_not_wholly() -> None:
    """A logistic regression on the context beats chance on average, and is not perfect."""
    aucs = []
    for seed in range(10):
        tasks = draw(seed)
        for task in range(6):
            X, y = np.nan_to_num(tasks.X[:, task].numpy(), nan=0.5), tasks.y[:, task].numpy()
            if 0 < y[200:].mean() < 1:
                fitted = LogisticRegression().fit(X[:200], y[:200])
                aucs.append(roc_auc_score(y[200:], fitted.decision_function(X[200:])))
    assert np.mean(aucs) - 3 * np.std(aucs) / np.sqrt(len(aucs)) > 0.6
    assert np.mean(aucs) < 0.9


def test_class_shares_alone_cost_the_entropy_of_the_shares() -> None:
    y = torch.tensor([[1.0], [0.0], [0.0], [0.0], [1.0], [0.0]])
    loss = class_share_loss(Tasks(torch.zeros(6, 1, 1), y, 4))
    assert loss == pytest.approx(-(np.log(0.25) + np.log(0.75)) / 2)


def test_a_short_pretraining_writes_what_the_real_class_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "short-tabpfn-v2-classifier.ckpt"
    pretrain(2, path)
    assert f"wrote {path.name}, {path.stat().st_size:,} bytes" in capsys.readouterr().out
    assert path.stat().st_size < 2 * MIB
    data = gaussian_table(60, 3, 2)
    members = np.arange(60)[None] < 40
    values = TabPFN(str(path)).train(data, members, np.array([1]), num_train=40).values
    np.testing.assert_allclose(np.exp(values[0].astype(float)).sum(1), 1, atol=1e-5)


def test_the_bundled_weights_are_small_and_those_of_the_log() -> None:
    log = in_context.CHECKPOINT.with_name("pretraining.log").read_text().strip().splitlines()
    size = in_context.CHECKPOINT.stat().st_size
    assert size <= 2 * MIB
    assert log[-1] == f"wrote {in_context.CHECKPOINT.name}, {size:,} bytes"


def test_the_bundled_weights_rank_records_of_a_real_table() -> None:
    """Well above chance on credit default, from 200 rows of context: AUC at least 0.6."""
    pool = draw_pool(CreditDefault().load(), 1000, seed=1)
    context = np.random.default_rng(1).permutation(1000)[None] < 200
    values = TabPFN(BUNDLED).train(pool, context, np.array([1]), num_train=200).values[0]
    auc = roc_auc_score(pool.y[~context[0]], (values[:, 1] - values[:, 0])[~context[0]])
    assert auc > 0.6
