import numpy as np
import pytest
from omegaconf import OmegaConf

from mia_audit.attacks import BASE, RMIA, Attack, CalibratedLoss, LiRA, LiRAOffline, Loss, Variance
from mia_audit.stats import base, draw_members, lira, log_confidence, rmia, roc_curve

ATTACKS: list[Attack] = [
    *(LiRA(variance=variance) for variance in Variance),
    *(LiRAOffline(variance=variance) for variance in Variance),
    RMIA(),
    RMIA(gamma=2.0),
    RMIA(offline_a=0.3),
    BASE(),
    CalibratedLoss(),
    Loss(),
]


def simulated(shift: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores of 48 models on 301 records of unequal location and spread; members `shift` sd up."""
    rng = np.random.default_rng(seed)
    members = draw_members(48, 301, seed=seed)
    noise = rng.standard_normal(members.shape) + shift * members
    scores = rng.normal(1, 1, 301) + rng.uniform(0.5, 1.5, 301) * noise
    return scores.astype(np.float32), members


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_every_attack_finds_a_planted_shift(attack: Attack) -> None:
    scores, members = simulated(shift=1.0)
    statistic = attack.statistic(scores, members)
    assert statistic.shape == scores.shape
    assert roc_curve(statistic, members).auc > 0.6


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_no_attack_finds_what_is_not_there(attack: Attack) -> None:
    """Four standard errors of the AUC of independent entries, averaged over repetitions."""
    repetitions = 5
    areas = []
    for seed in range(repetitions):
        scores, members = simulated(shift=0.0, seed=seed)
        areas.append(roc_curve(attack.statistic(scores, members), members).auc)
    entries = members.size / 2
    error = np.sqrt(1 / 12 * 2 / entries / repetitions)
    assert abs(np.mean(areas) - 0.5) < 4 * error


def test_names() -> None:
    assert [attack().name for attack in (LiRA, LiRAOffline, RMIA, BASE, CalibratedLoss, Loss)] == [
        "lira",
        "lira_offline",
        "rmia",
        "base",
        "calibrated_loss",
        "loss",
    ]


def test_nouns_pass_their_settings_on() -> None:
    scores, members = simulated(shift=1.0)
    log_p = log_confidence(scores)
    np.testing.assert_array_equal(
        LiRA(Variance["global"]).statistic(scores, members),
        lira(scores, members, variance="global"),
    )
    np.testing.assert_array_equal(
        RMIA(gamma=2.0, offline_a=0.4).statistic(scores, members),
        rmia(log_p, members, gamma=2.0, offline_a=0.4),
    )
    np.testing.assert_array_equal(BASE().statistic(scores, members), base(log_p, members))


@pytest.mark.parametrize("noun", [LiRA, LiRAOffline, RMIA, BASE, CalibratedLoss, Loss])
def test_nouns_are_config_schemas(noun: type) -> None:
    assert OmegaConf.to_object(OmegaConf.structured(noun)) == noun()


def test_the_variance_is_chosen_by_name() -> None:
    config = OmegaConf.merge(OmegaConf.structured(LiRA), {"variance": "global"})
    assert OmegaConf.to_object(config) == LiRA(Variance["global"])
