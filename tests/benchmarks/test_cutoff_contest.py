"""The contest's own pieces against plain loops, and its table at small size on real scores."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mia_audit.stats import (
    Conditional,
    Regression,
    draw_members,
    leave_one_out_moments,
    shape_covariates,
    standardise,
)
from mia_audit.stats.cutoffs import conformal_cutoff
from tests.benchmarks import cutoff_contest, cutoff_rules
from tests.benchmarks.cutoff_contest import LEVELS, OWN, Request, contest, judged
from tests.benchmarks.cutoff_worlds import WORLDS, draw_world

MODELS, JUDGES, RECORDS = 40, 80, 60


def skewed_world(num_records: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores [120, N] with spreads and skewness of their own, and members."""
    rng = np.random.default_rng(seed)
    members = draw_members(MODELS + JUDGES, num_records, seed=seed)
    shape = rng.uniform(2, 30, num_records)
    noise = (rng.gamma(shape, size=members.shape) - shape) / np.sqrt(shape)
    sd = rng.uniform(0.2, 3, num_records)
    return (rng.normal(0, 3, num_records) + sd * (noise + 0.5 * members)), members


def test_shapes_equal_a_loop_without_the_models_own_score() -> None:
    scores, members = skewed_world(7)
    found = cutoff_rules.sweep_shapes(scores[:MODELS], ~members[:MODELS])
    for at, (m, x) in enumerate(np.argwhere(~members[:MODELS])):
        rest = np.delete(scores[:MODELS, x], m)[~np.delete(members[:MODELS, x], m)]
        sd = rest.std(ddof=1)
        expected = (
            (scores[m, x] - rest.mean()) / sd, rest.mean() / sd, np.log(sd),
            stats.skew(rest, bias=False), rest.size,
        )  # fmt: skip
        got = [getattr(found, name)[at] for name in found.__dataclass_fields__]
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)


def test_fresh_models_are_judged_by_all_shadows() -> None:
    scores, members = skewed_world(5)
    known = cutoff_rules.record_shapes(scores[:MODELS], ~members[:MODELS])
    z = cutoff_rules.standardised(scores[MODELS:], known)
    for x in range(5):
        rest = scores[:MODELS, x][~members[:MODELS, x]]
        np.testing.assert_allclose(z[:, x], (scores[MODELS:, x] - rest.mean()) / rest.std(ddof=1))
        assert known.skew[x] == pytest.approx(stats.skew(rest, bias=False))


def test_the_baseline_is_the_packages_rule() -> None:
    """Judging the sweep by itself gives the decisions of `Conditional`."""
    scores, members = skewed_world(80)
    z = standardise(scores, members)
    moments = leave_one_out_moments(scores, members)
    expected = Conditional().decide(
        z, members, 0.1, covariate=moments.mean_out / np.sqrt(moments.var_out)
    )
    fit = cutoff_rules.sweep_shapes(scores, ~members)
    cut = cutoff_rules.binned(fit, 0.1, cutoff_rules.zero, cutoff_rules.ratio, 10)
    np.testing.assert_array_equal(fit.z > cut(fit), expected[~members])


def test_the_regression_is_the_packages_rule() -> None:
    """Members of every model but one set the cut-offs: its own are those of `Regression`."""
    scores, members = skewed_world(300)
    found = cutoff_rules.ByShape.of(scores, ~members, [0, 1, 2])
    covariate = shape_covariates(scores, members)
    np.testing.assert_array_equal(found.regression.covariates, covariate)
    expected = Regression().decide(standardise(scores, members), members, 0.1, covariate=covariate)
    margin = found.regression.margin(0.1)
    cut = conformal_cutoff(np.sort(margin[~members]), 0.1)
    np.testing.assert_array_equal(margin > cut, expected)
    everyone = np.vstack([members, np.ones((1, 300), dtype=bool)])
    known = shape_covariates(np.vstack([scores, scores[:1]]), everyone)[:, -1]
    np.testing.assert_array_equal(found.known, known)


@pytest.mark.parametrize("world", WORLDS)
def test_worlds_have_the_shapes_they_are_named_for(world: str) -> None:
    scores, members = draw_world(world, 400, 300)
    z = standardise(scores, members)
    skewness = stats.skew(np.where(members, np.nan, z), axis=0, nan_policy="omit")
    kurtosis = stats.kurtosis(np.where(members, np.nan, z), axis=0, nan_policy="omit")
    assert (np.std(skewness) > 0.25) == (world != "normal")
    assert (np.median(kurtosis) > 0.1) == (world == "heavy")


def test_the_table_names_every_rule_once_a_level_and_compares_at_the_level() -> None:
    scores, members = skewed_world(RECORDS)
    lines = contest(scores, members, models=MODELS, judges=JUDGES, draws=2)
    names = [line.rule for line in lines if line.level == LEVELS[0]]
    assert len(set(names)) == len(names) == len(lines) / len(LEVELS)
    assert {"normal", "exact t", "conditional", "bins of μ/σ, σ", OWN} <= set(names)
    at = {(line.rule, line.level): line for line in lines}
    assert at["conditional", 0.1].gain == 0
    assert at["normal", 0.01].fpr > at["empirical", 0.01].fpr
    assert not at[OWN, 0.1].wins


def test_a_moved_cutoff_is_compared_as_the_same_rule() -> None:
    scores, members = skewed_world(RECORDS)
    margin, inside = scores[MODELS:] - 1.0, members[MODELS:]
    first = cutoff_contest._rates(margin, inside, 0.1)
    second = cutoff_contest._rates(margin + 5.0, inside, 0.1)
    assert first[0] != second[0]
    assert first[1:] == second[1:]


def test_arguments_are_keys_and_values() -> None:
    request = Request.parse(["dataset=german_credit", "models=16", "store=here"])
    assert (request.dataset, request.models, request.judges) == ("german_credit", 16, 896)
    with pytest.raises(TypeError):
        Request.parse(["modles=3"])


@pytest.mark.integration
def test_the_real_table_at_small_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """128 small MLPs on 300 records of Adult, trained through a sweep."""
    arguments = [
        "dataset=adult", "models=48", "judges=80", "draws=2", "records=300", "epochs=3",
        f"store={tmp_path / 'store'}",
    ]  # fmt: skip
    assert cutoff_contest.main(arguments) == 0
    table = capsys.readouterr().out.splitlines()
    assert "judged on 80" in table[0]
    scores, members = cutoff_contest.trained(Request.parse(arguments))
    order = np.random.default_rng((0, 0)).permutation(128)
    rules = list(judged(scores, members, order[:48], order[48:]))
    assert len(table) == 1 + len(rules)
    assert all(0 <= rate <= 1 for _, _, rates in rules for rate in rates)
