"""Scores that other programs computed: pairs, LiRA's folders, one target; one sentence a fault."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mia_audit.external import TargetScale, read_matrices, read_target
from mia_audit.external.files import load

M, N, K = 8, 30, 3


@pytest.fixture
def members() -> np.ndarray:
    """Each record in exactly half of the models."""
    return np.random.default_rng(0).permuted(np.tile([True, False], (N, M // 2)), axis=1).T.copy()


@pytest.fixture
def scores(members: np.ndarray) -> np.ndarray:
    return (np.random.default_rng(1).normal(size=(M, N)) + members).astype(np.float32)


def save(folder: Path, scores: np.ndarray, members: np.ndarray) -> Path:
    np.save(folder / "scores.npy", scores)
    np.save(folder / "members.npy", members)
    return folder


def save_experiments(folder: Path, per_model: list, members: np.ndarray, file: str) -> Path:
    for m, array in enumerate(per_model):
        target = folder / f"experiment-{m}_{M}" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        np.save(target, array)
        np.save(folder / f"experiment-{m}_{M}" / "keep.npy", members[m])
    return folder


@pytest.mark.parametrize("kind", [bool, np.uint8, np.float64])
def test_a_pair_of_matrices(tmp_path: Path, scores, members, kind: type) -> None:
    read = read_matrices(save(tmp_path, scores.astype(np.float64), members.astype(kind)))
    assert read.scores.dtype == np.float32
    assert read.members.dtype == np.bool_
    np.testing.assert_array_equal(read.scores, scores)
    np.testing.assert_array_equal(read.members, members)
    assert read.notes == ()


def test_augmentations_of_a_pair_are_averaged(tmp_path: Path, scores, members) -> None:
    stack = scores[:, :, None] + np.arange(K, dtype=np.float32)
    read = read_matrices(save(tmp_path, stack, members))
    np.testing.assert_allclose(read.scores, scores + 1, rtol=1e-6)
    assert read.notes == ("Scores are averages over 3 augmentations.",)


@pytest.mark.parametrize("shape", ["[N]", "[N, K]", "[N, 1, K]", "[2, N]", "[2, N, K]"])
def test_folders_of_the_lira_code(tmp_path: Path, scores, members, shape: str) -> None:
    def arranged(row: np.ndarray) -> np.ndarray:
        spread = row[:, None] + np.array([-1, 0, 1], dtype=np.float32)
        shapes = {
            "[N]": row,
            "[N, K]": spread,
            "[N, 1, K]": spread[:, None],
            "[2, N]": np.stack([row * 0, row]),
            "[2, N, K]": np.stack([spread * 0, spread]),
        }
        return shapes[shape]

    folder = save_experiments(tmp_path, [arranged(row) for row in scores], members, "scores.npy")
    read = read_matrices(folder)
    np.testing.assert_allclose(read.scores, scores, atol=1e-6)
    np.testing.assert_array_equal(read.members, members)


def test_the_last_epoch_counts_and_folders_sort_by_number(tmp_path: Path) -> None:
    many = 12
    members = np.arange(many)[:, None] % 2 == np.arange(N) % 2
    rows = np.arange(many)[:, None] + 2.0 * members
    save_experiments(tmp_path, list(rows * 0), members, "scores/0000000009.npy")
    folder = save_experiments(tmp_path, list(rows), members, "scores/0000000010.npy")
    (folder / "logs").mkdir()
    (folder / "experiment-99").mkdir()
    np.save(folder / "experiment-99" / "keep.npy", members[0])
    read = read_matrices(folder)
    np.testing.assert_array_equal(read.scores, rows)
    assert read.notes == (
        f"Read 12 folders, experiment-0_{M} to experiment-11_{M}.",
        "Left out, since they have no scores: experiment-99.",
    )


def test_a_few_records_that_cannot_be_judged_are_said(tmp_path: Path, scores, members) -> None:
    members[:, :2] = [True, False]
    read = read_matrices(save(tmp_path, scores, members))
    assert read.notes == ("2 of 30 records are in all models or in none, and cannot be judged.",)


def test_doubtful_scores_are_said(tmp_path: Path, scores, members) -> None:
    loss = read_matrices(save(tmp_path, -scores - 3 * members, members))
    assert "a loss needs its sign turned" in loss.notes[0]
    probability = read_matrices(save(tmp_path, 1 / (1 + np.exp(-scores)), members))
    assert "All scores lie within 0 and 1" in probability.notes[0]


def test_faults_of_a_pair(tmp_path: Path, scores, members) -> None:
    def refused(sentence: str, scores: np.ndarray, members: np.ndarray) -> None:
        with pytest.raises(ValueError, match=sentence) as caught:
            read_matrices(save(tmp_path, scores, members))
        assert "\n" not in str(caught.value)

    holed = scores.astype(np.float64)
    holed[2, 17] = np.nan
    holed[5, 1] = np.inf
    refused("2 scores are not finite, the first in model 2 at record 17", holed, members)
    refused("not finite, the first in model 2", np.where(np.isnan(holed), 1e39, holed), members)
    refused(r"scores.npy is \[8, 29\] and members.npy is \[8, 30\]", scores[:, :-1], members)
    refused(r"scores.npy is \[30, 8\]", scores.T, members)
    refused(r"both must be \[models, records\]", scores[0], members[0])
    refused("has 3 models: at least 4", scores[:3], members[:3])
    refused("must hold true/false or 0/1", scores, members + 1)
    refused("must hold true/false or 0/1", scores, members.astype(str))
    refused("holds <U1, not numbers", np.full((M, N), "x"), members)
    refused("30 of 30 records are in all models or in none", scores, members | True)


def test_nothing_is_unpickled(tmp_path: Path, scores, members) -> None:
    save(tmp_path, scores, members)
    np.save(tmp_path / "scores.npy", np.array([[object()]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"scores.npy is not a readable .npy file"):
        read_matrices(tmp_path)
    (tmp_path / "scores.npy").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(ValueError, match="not a readable"):
        read_matrices(tmp_path)
    (tmp_path / "scores.npy").write_bytes(b"")
    with pytest.raises(ValueError, match="not a readable"):
        read_matrices(tmp_path)


@pytest.mark.parametrize("content", [b"", b"1", b"\x93NUMPY", b"PK\x03\x04"])
def test_a_file_that_is_no_array_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a readable \.npy file of numbers"):
        load(tmp_path / "x.npy")


def test_faults_of_folders(tmp_path: Path, scores, members) -> None:
    with pytest.raises(ValueError, match="does not exist: name the folder"):
        read_matrices(tmp_path / "nowhere")
    (tmp_path / "sweep-7").mkdir()
    with pytest.raises(ValueError, match="does not exist, did you mean 'sweep-7': name the folder"):
        read_matrices(tmp_path / "sweep-8")
    with pytest.raises(ValueError, match=r"has neither scores\.npy and members\.npy nor a folder"):
        read_matrices(tmp_path)
    with pytest.raises(ValueError, match="is not on this machine"):
        read_matrices("s3://bucket/scores")
    folder = save_experiments(tmp_path, list(scores), members, "scores.npy")
    with pytest.raises(ValueError, match="is a file: name the folder"):
        read_matrices(folder / f"experiment-0_{M}" / "keep.npy")
    np.save(folder / f"experiment-3_{M}" / "scores.npy", scores[3, :-1])
    with pytest.raises(ValueError, match=r"experiment-3_8/scores.npy is \[29\] where keep.npy has"):
        read_matrices(folder)
    np.save(folder / f"experiment-3_{M}" / "scores.npy", np.where(np.arange(N) == 4, np.inf, 0))
    with pytest.raises(ValueError, match="the first in experiment-3_8 at record 4"):
        read_matrices(folder)
    np.save(folder / f"experiment-3_{M}" / "keep.npy", np.flatnonzero(members[3]))
    with pytest.raises(ValueError, match="must hold true/false or 0/1"):
        read_matrices(folder)
    np.save(folder / f"experiment-3_{M}" / "keep.npy", members[3, :-1])
    with pytest.raises(ValueError, match="share one flat list of records"):
        read_matrices(folder)


def test_a_target_from_any_kind_of_file(tmp_path: Path, scores, members) -> None:
    np.save(tmp_path / "phi.npy", scores[0][:, None])
    table = pd.DataFrame({"id": range(N), "Score": scores[0], "member": members[0].astype(int)})
    table.to_csv(tmp_path / "both.csv", index=False)
    table.to_parquet(tmp_path / "both.parquet")
    (tmp_path / "bare.csv").write_text("\n".join(str(x) for x in members[0]))
    for score_file, member_file in [
        ("phi.npy", "both.csv"),
        ("both.csv", "both.parquet"),
        ("both.parquet", "bare.csv"),
    ]:
        phi, is_member = read_target(tmp_path / score_file, tmp_path / member_file, num_records=N)
        np.testing.assert_allclose(phi, scores[0], rtol=1e-6)
        np.testing.assert_array_equal(is_member, members[0])


def test_probabilities_of_a_target_become_phi(tmp_path: Path) -> None:
    p = np.array([0.0, 0.25, 0.5, 1.0])
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "m.npy", np.array([True, False, True, False]))
    files = (tmp_path / "p.npy", tmp_path / "m.npy")
    with pytest.raises(ValueError, match=r"within 0 and 1; state target\.scale=probability"):
        read_target(*files, num_records=4)
    phi, _ = read_target(*files, num_records=4, scale=TargetScale.probability)
    edge = np.log(1e12 - 1)
    np.testing.assert_allclose(phi, [-edge, -np.log(3), 0, edge], rtol=1e-4)
    stated, _ = read_target(*files, num_records=4, scale=TargetScale.phi)
    np.testing.assert_array_equal(stated, p)
    np.save(tmp_path / "p.npy", p * 2)
    with pytest.raises(ValueError, match="a probability lies outside 0 and 1"):
        read_target(*files, num_records=4, scale=TargetScale.probability)


def test_faults_of_a_target(tmp_path: Path, scores, members) -> None:
    np.save(tmp_path / "s.npy", scores[0])
    np.save(tmp_path / "m.npy", members[0])

    def refused(sentence: str, scores: str = "s.npy", members: str = "m.npy") -> None:
        with pytest.raises(ValueError, match=sentence) as caught:
            read_target(tmp_path / scores, tmp_path / members, num_records=N)
        assert "\n" not in str(caught.value)

    refused("target.scores=.*no such file", scores="x.npy")
    np.save(tmp_path / "short.npy", scores[0, 1:])
    refused("target.scores=.* has 29 values for 30 records", scores="short.npy")
    np.save(tmp_path / "one.npy", members[0] | True)
    refused("needs both members and non-members", members="one.npy")
    np.save(tmp_path / "holed.npy", np.where(np.arange(N) == 6, np.nan, scores[0]))
    refused("1 scores are not finite, the first at record 6", scores="holed.npy")
    np.save(tmp_path / "wide.npy", scores)
    refused(r"is \[8, 30\]: one value a record", scores="wide.npy")
    pd.DataFrame({"a": scores[0], "b": scores[0]}).to_csv(tmp_path / "two.csv")
    refused("has 3 columns: keep one, or name one 'score'", scores="two.csv")
    (tmp_path / "text.csv").write_text("score\n" + "x\n" * N)
    refused("not numbers", scores="text.csv")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    refused("not a readable parquet file", scores="cut.parquet")
    (tmp_path / "s.txt").write_text("1")
    refused("must be a .npy, .csv or .parquet file", scores="s.txt")


@pytest.mark.parametrize("shape", ["(8, 1}ù2)", "(8, b12"])
def test_a_damaged_header_is_one_sentence(tmp_path: Path, shape: str) -> None:
    """numpy reads headers as Python 2 wrote them, and then raises whatever the tokeniser does."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path = tmp_path / "scores.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not a readable \.npy file of numbers"):
        load(path)
