"""`audit scores=PATH` on folders of any content: an audit, or one sentence; nothing is written."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.audit import audit
from mia_audit.config import compose
from mia_audit.preparation import external, external_settings
from tests.fuzz.running import IN_CI, LONG, check, contents, empty_folder, inputs, told_directly
from tests.fuzz.spoiling import arrays, npy, spoiled

RNG = np.random.default_rng(0)
SCORES = npy(RNG.normal(size=(8, 12)).astype(np.float32))
MEMBERS = npy(RNG.random((8, 12)) < 0.5)

FILES = st.one_of(
    arrays().map(npy), spoiled(SCORES), spoiled(MEMBERS), st.just(SCORES), st.just(MEMBERS)
)
PAIRS = st.fixed_dictionaries({"scores.npy": FILES, "members.npy": FILES})
EXPERIMENTS = st.dictionaries(
    st.sampled_from(
        [f"experiment-{m}/{name}" for m in range(5) for name in ("keep.npy", "scores.npy")]
        + ["a/scores/1.npy", "a/keep.npy", "keep.npy"]
    ),
    st.one_of(FILES, st.just(npy(RNG.random(12) < 0.5)), st.just(npy(RNG.normal(size=12)))),
)
FOLDERS = st.one_of(PAIRS, EXPERIMENTS)


GIVEN = compose("audit", ["scores=given"])


def read_and_audit() -> None:
    matrix, _ = external(GIVEN.settings, GIVEN.given)
    audit(matrix, external_settings(GIVEN.settings, GIVEN.given, matrix))


def judge(files: dict[str, bytes]) -> None:
    with empty_folder() as folder:
        for name, content in files.items():
            path = folder / "given" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        before = contents(Path())
        check(*told_directly(read_and_audit))
        assert contents(Path()) == before


@inputs(IN_CI)
@given(FOLDERS)
def test_any_folder(files: dict[str, bytes]) -> None:
    judge(files)


@pytest.mark.slow
@inputs(LONG)
@given(FOLDERS)
def test_thousands_of_folders(files: dict[str, bytes]) -> None:
    judge(files)


def test_a_sound_folder_is_audited() -> None:
    with empty_folder() as folder:
        (folder / "given").mkdir()
        (folder / "given/scores.npy").write_bytes(SCORES)
        (folder / "given/members.npy").write_bytes(MEMBERS)
        assert told_directly(read_and_audit) == (0, "")
