"""Privacy bounds fail at most at the stated rate, by simulation on mechanisms of known ε.

Letters: R rows (models), N records; i the members, h the decisions.
"""

import math

import numpy as np
import pytest

from mia_audit.stats.measured_epsilon import measured_epsilon
from mia_audit.stats.pooled_epsilon import pooled_epsilon_lower_bound, pooled_epsilon_ratio
from mia_audit.stats.privacy_bounds import epsilon_lower_bound, mu_lower_bound

pytestmark = pytest.mark.slow

REPEATS = 2000
Decisions = tuple[np.ndarray, np.ndarray]


def assert_rate_at_most(failures: list[bool], level: float) -> None:
    error = math.sqrt(level * (1 - level) / len(failures))
    assert np.mean(failures) <= level + 3 * error


def randomised_response(
    rng: np.random.Generator, members: np.ndarray, epsilon: float
) -> np.ndarray:
    honest = rng.random(members.shape) < 1 / (1 + math.exp(-epsilon))
    return np.where(honest, members, ~members)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_counts_of_independent_trials(epsilon: float, confidence: float) -> None:
    rng = np.random.default_rng(int(10 * epsilon))
    right = 1 / (1 + math.exp(-epsilon))
    failures = []
    for _ in range(REPEATS):
        hits, alarms = rng.binomial(60, right), rng.binomial(60, 1 - right)
        counts = (hits, 60 - hits, alarms, 60 - alarms)
        failures.append(epsilon_lower_bound(*counts, confidence=confidence) > epsilon)
    assert_rate_at_most(failures, 1 - confidence)


def test_counts_with_delta() -> None:
    """With probability δ the answer is the truth, marked as certain: (0, δ)-private."""
    rng, delta, failures = np.random.default_rng(0), 0.1, []
    for _ in range(REPEATS):
        hits, alarms = rng.binomial(200, delta), 0  # "certain member" or not
        counts = (hits, 200 - hits, alarms, 200 - alarms)
        failures.append(epsilon_lower_bound(*counts, delta=delta) > 0)
    assert_rate_at_most(failures, 0.05)


def test_mu_of_a_gaussian_mechanism() -> None:
    rng, mu, failures = np.random.default_rng(0), 1.0, []
    for _ in range(REPEATS):
        hits = int(np.sum(rng.normal(size=80) + mu > 0.7))
        alarms = int(np.sum(rng.normal(size=80) > 0.7))
        failures.append(mu_lower_bound(hits, 80 - hits, alarms, 80 - alarms) > mu)
    assert_rate_at_most(failures, 0.05)


def shared_coin(rng: np.random.Generator, epsilon: float) -> Decisions:
    """A row answers for all its records or for none: pure randomised response given the coin."""
    members = rng.random((12, 30)) < 0.5
    return randomised_response(rng, members, epsilon) & (rng.random((12, 1)) < 0.5), members


def shared_noise(rng: np.random.Generator, epsilon: float) -> Decisions:
    """One noisy signed count a row (Laplace, ε-private for each record) decides all its guesses."""
    members = rng.random((12, 6)) < 0.5
    signs = rng.choice([-1, 1], size=members.shape)
    noise = rng.laplace(size=(12, 1)) / epsilon if epsilon else rng.normal(size=(12, 1)) * 1e9
    count = (signs * (members - 0.5)).sum(axis=1, keepdims=True) + noise
    return signs * count > 1, members


def all_or_nothing(rng: np.random.Generator, epsilon: float) -> Decisions:
    """Every record of a row gets the row's one guess, right or wrong with it."""
    members = rng.random((12, 30)) < 0.5
    guess = randomised_response(rng, members[:, :1], epsilon)
    return np.repeat(guess, 30, axis=1), members


MECHANISMS = {f.__name__: f for f in (shared_coin, shared_noise, all_or_nothing)}


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_pooled_bound_under_dependence_within_a_row(mechanism: str, epsilon: float) -> None:
    rng, failures = np.random.default_rng(1), []
    for _ in range(REPEATS):
        decisions, members = MECHANISMS[mechanism](rng, epsilon)
        failures.append(pooled_epsilon_lower_bound(decisions, members) > epsilon)
    assert_rate_at_most(failures, 0.05)


def test_pooled_bound_with_an_unfair_coin() -> None:
    rng, failures = np.random.default_rng(2), []
    for _ in range(REPEATS):
        members = rng.random((6, 40)) < 0.3
        decisions = randomised_response(rng, members, 1.0) & (rng.random((6, 1)) < 0.5)
        failures.append(pooled_epsilon_lower_bound(decisions, members, fraction=0.3) > 1.0)
    assert_rate_at_most(failures, 0.05)


@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_pooled_bound_with_delta(delta: float) -> None:
    """With probability δ a row gives all its records away at once; else ε = 1."""
    rng, failures = np.random.default_rng(3), []
    for _ in range(REPEATS):
        members = rng.random((4, 10)) < 0.5
        leaked = rng.random((4, 1)) < delta
        decisions = np.where(leaked, members, randomised_response(rng, members, 1.0))
        failures.append(pooled_epsilon_lower_bound(decisions, members, delta=delta) > 1.0)
    assert_rate_at_most(failures, 0.05)


def run_shift(rng: np.random.Generator) -> Decisions:
    """No leak; every row calls its own random share of the records, most of them few."""
    members = rng.random((20, 200)) < 0.5
    return rng.random(members.shape) < rng.random((20, 1)) ** 4, members


def test_pooled_ratio_is_near_its_level_without_a_leak() -> None:
    """Approximate: a t bound on 20 rows; twice the level is what it may reach here."""
    rng = np.random.default_rng(4)
    failures = [bool(pooled_epsilon_ratio(*run_shift(rng)) > 0) for _ in range(REPEATS)]
    assert_rate_at_most(failures, 0.1)


@pytest.mark.parametrize("common", [0.0, 1.0])
@pytest.mark.parametrize("fraction", [0.5, 0.3])
def test_measured_epsilon_of_null_scores(common: float, fraction: float) -> None:
    """Scores without a leak, with and without a component common to a model's records."""
    rng, failures = np.random.default_rng(6), []
    for _ in range(1000):
        members = rng.random((24, 100)) < fraction
        scores = rng.normal(size=members.shape) + common * rng.normal(size=(24, 1))
        failures.append(measured_epsilon(scores, members, fraction=fraction) > 0)
    assert_rate_at_most(failures, 0.05)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_measured_epsilon_of_a_laplace_mechanism(delta: float) -> None:
    """score = member + Laplace(1/ε) is ε-private; the bound comes close and rarely passes."""
    rng, epsilon, bounds = np.random.default_rng(7), 1.0, []
    for _ in range(400):
        members = rng.random((40, 200)) < 0.5
        scores = members + rng.laplace(size=members.shape) / epsilon
        bounds.append(measured_epsilon(scores, members, alpha=0.2, delta=delta))
    assert_rate_at_most([bound > epsilon for bound in bounds], 0.05)
    assert np.mean(bounds) > 0.6
