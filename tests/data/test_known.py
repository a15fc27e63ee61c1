"""The bundled tables: published counts, constants in the code, both encodings, the network."""

import functools
import hashlib
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf, ValidationError

from mia_audit.data import Adult, CreditDefault, Encoding, GermanCredit, Source, draw_pool
from mia_audit.data.adult import ADULT
from mia_audit.data.credit_default import CREDIT_DEFAULT
from mia_audit.data.encoding import MISSING, Categorical, Numeric
from mia_audit.data.german_credit import GERMAN_CREDIT, OPENML_LEVELS, OPENML_NAMES
from mia_audit.data.known import FILES, KnownTable

TABLES = [ADULT, GERMAN_CREDIT, CREDIT_DEFAULT]
NOUNS = {"adult": Adult, "german_credit": GermanCredit, "credit_default": CreditDefault}


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("adult", "535cdeb9", "dccdb"),
        ("german_credit", "2a7daadc", "b603"),
        ("credit_default", "0cc5c619", "8cf4"),
    ],
)
def test_bundled_files_are_the_ones_checked(name: str, start: str, end: str) -> None:
    sha = hashlib.sha256((FILES / f"{name}.parquet").read_bytes()).hexdigest()
    assert sha.startswith(start)
    assert sha.endswith(end)
    licence = (FILES / "LICENCE.md").read_text()
    assert f"{name}.parquet" in licence
    assert "CC BY 4.0" in licence


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_constants_are_those_of_the_whole_table(table: KnownTable) -> None:
    frame = pd.read_parquet(FILES / f"{table.name}.parquet")
    assert [c for c in frame.columns if c not in (table.target, "split")] == [
        column.name for column in table.columns
    ]
    for column in table.columns:
        values = frame[column.name]
        if isinstance(column, Numeric):
            x = values.to_numpy(dtype=np.float64)
            assert column.mean == pytest.approx(x.mean(), rel=1e-6)
            assert column.sd == pytest.approx(x.std(), rel=1e-6)
            assert len(np.unique(x)) > 1
        else:
            levels = tuple(str(level) for level in sorted(values.dropna().unique()))
            assert column.levels == levels + (MISSING,) * bool(values.isna().any())


def test_adult_counts() -> None:
    frame = pd.read_parquet(FILES / "adult.parquet")
    assert (frame["split"] == "train").sum() == 32_561
    assert (frame["split"] == "test").sum() == 16_281
    train = frame[frame["split"] == "train"]
    assert round(100 * (train["income"] == ">50K").mean(), 2) == 24.08
    assert frame.isna().any(axis=1).sum() == 3_620
    assert frame.drop(columns="split").duplicated().sum() == 52
    data = Adult().load()
    assert data.X.shape == (48_842, 108)
    assert data.class_names == ("<=50K", ">50K")
    np.testing.assert_array_equal(data.y == 1, frame["income"] == ">50K")
    np.testing.assert_array_equal(data.rows, np.arange(48_842))


def test_adult_codes_are_the_papers_table() -> None:
    frame = pd.read_parquet(FILES / "adult.parquet").drop(columns="split")
    data = Adult(encoding=Encoding.codes).load()
    assert data.X.shape == (45_222, 14)
    assert data.class_counts.tolist() == [34_014, 11_208]
    balanced = draw_pool(data, None, seed=0, balanced=True)
    assert balanced.class_counts.tolist() == [11_208, 11_208]
    complete = frame.dropna()
    np.testing.assert_array_equal(data.rows, complete.index)
    for column, name in enumerate(data.feature_names):
        expected = complete[name]
        if data.feature_kinds[column] == "code":
            levels = sorted(expected.unique())
            expected = expected.astype(object).map({level: at for at, level in enumerate(levels)})
        np.testing.assert_array_equal(data.X[:, column], expected.to_numpy(dtype=np.float32))


def test_german_credit_counts() -> None:
    data = GermanCredit().load()
    assert data.X.shape == (1_000, 61)
    assert data.class_counts.tolist() == [700, 300]
    assert data.class_names == ("good", "bad")
    raw = GermanCredit(encoding=Encoding.codes).load()
    assert raw.X.shape == (1_000, 20)
    amount = raw.X[:, raw.feature_names.index("credit_amount")]
    assert amount.mean(dtype=np.float64) == pytest.approx(3271.258)


def test_credit_default_counts() -> None:
    data = CreditDefault().load()
    assert data.X.shape == (30_000, 91)
    assert data.class_counts.tolist() == [30_000 - 6_636, 6_636]
    raw = CreditDefault(encoding=Encoding.codes).load()
    limit = raw.X[:, raw.feature_names.index("LIMIT_BAL")]
    assert limit.mean(dtype=np.float64) == pytest.approx(167_484.32, abs=0.01)
    assert pd.read_parquet(FILES / "credit_default.parquet").duplicated().sum() == 35


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_one_hot_rows_sum_to_one_and_agree_with_pandas(table: KnownTable) -> None:
    data = NOUNS[table.name]().load()
    frame = table.bundled_frame()
    at = 0
    for column in table.columns:
        if isinstance(column, Categorical):
            block = data.X[:, at : at + len(column.levels)]
            np.testing.assert_array_equal(block.sum(axis=1), 1)
            names = np.array(column.levels, dtype=object)[block.argmax(axis=1)]
            text = frame[column.name].astype(object)
            np.testing.assert_array_equal(names, text.where(text.notna(), MISSING).to_numpy())
            at += len(column.levels)
        else:
            x = frame[column.name].to_numpy()
            np.testing.assert_allclose(data.X[:, at], (x - x.mean()) / x.std(), atol=1e-5)
            at += 1
    assert at == data.num_features
    assert np.isfinite(data.X).all()


def test_encoding_of_a_record_does_not_depend_on_the_pool() -> None:
    data = GermanCredit().load()
    pool = draw_pool(data, 100, seed=5)
    np.testing.assert_array_equal(pool.X, data.X[pool.rows])


def test_a_noun_has_its_name_and_its_default_pool() -> None:
    assert [noun().name for noun in NOUNS.values()] == list(NOUNS)
    assert [noun().pool for noun in NOUNS.values()] == [4000, None, 4000]


def bundled(table: KnownTable) -> pd.DataFrame:
    return pd.read_parquet(FILES / f"{table.name}.parquet")


def adult_as_uci_sends_it() -> pd.DataFrame:
    """Missing values half as "?", half as NaN; the test labels end with a full stop."""
    frame = bundled(ADULT).astype({"income": object, "workclass": object, "occupation": object})
    test = frame["split"] == "test"
    frame.loc[test, "income"] = frame.loc[test, "income"] + "."
    for name in ("workclass", "occupation"):
        frame.loc[frame[name].isna() & ~test, name] = "?"
    return frame.drop(columns="split")


def adult_as_openml_sends_it() -> pd.DataFrame:
    """Test rows first, the target called class."""
    frame = bundled(ADULT)
    frame = pd.concat([frame[frame["split"] == "test"], frame[frame["split"] == "train"]])
    return frame.drop(columns="split").rename(columns={"income": "class"}).reset_index(drop=True)


def german_as_uci_sends_it() -> pd.DataFrame:
    frame = bundled(GERMAN_CREDIT)
    features = {
        column.name: f"Attribute{at + 1}" for at, column in enumerate(GERMAN_CREDIT.columns)
    }
    return frame.rename(columns=features)


def german_as_openml_sends_it() -> pd.DataFrame:
    frame = bundled(GERMAN_CREDIT).astype({"class": str})
    for name, codes in OPENML_LEVELS.items():
        words = {code: word for word, code in codes.items()}
        frame[name] = frame[name].astype(str).map(words).astype("category")
        assert frame[name].notna().all()
    return frame.rename(columns={ours: theirs for theirs, ours in OPENML_NAMES.items()})


def credit_as_uci_sends_it() -> pd.DataFrame:
    frame = bundled(CREDIT_DEFAULT)
    return frame.set_axis([*(f"X{at}" for at in range(1, 24)), "Y"], axis=1)


def credit_as_openml_sends_it() -> pd.DataFrame:
    """Lower-case names, every number a float, the target a category."""
    frame = bundled(CREDIT_DEFAULT).astype(np.float64)
    frame = frame.set_axis([*(f"x{at}" for at in range(1, 24)), "y"], axis=1)
    return frame.assign(y=frame["y"].astype(int).astype(str).astype("category"))


@functools.cache
def bundled_digest(table: KnownTable) -> str:
    return NOUNS[table.name]().load().digest


@pytest.mark.parametrize(
    ("table", "source", "answer"),
    [
        (ADULT, Source.ucimlrepo, adult_as_uci_sends_it),
        (ADULT, Source.openml, adult_as_openml_sends_it),
        (GERMAN_CREDIT, Source.ucimlrepo, german_as_uci_sends_it),
        (GERMAN_CREDIT, Source.openml, german_as_openml_sends_it),
        (CREDIT_DEFAULT, Source.ucimlrepo, credit_as_uci_sends_it),
        (CREDIT_DEFAULT, Source.openml, credit_as_openml_sends_it),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_networks_table_is_the_bundled_one(
    table: KnownTable, source: Source, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mia_audit.data.known.fetch", lambda *_args, **_ids: answer())
    data = NOUNS[table.name](source=source).load()
    assert data.digest == bundled_digest(table)
    assert not any("differs" in note for note in data.notes)


def test_a_network_table_that_differs_is_used_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = german_as_uci_sends_it().assign(Attribute2=12)
    monkeypatch.setattr("mia_audit.data.known.fetch", lambda *_args, **_ids: frame)
    data = GermanCredit(source=Source.ucimlrepo).load()
    assert data.digest != GermanCredit().load().digest
    assert any("differs from the bundled one" in note for note in data.notes)


def test_answers_that_are_another_table_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(frame: pd.DataFrame) -> None:
        monkeypatch.setattr("mia_audit.data.known.fetch", lambda *_args, **_ids: frame)

    answering(german_as_uci_sends_it().drop(columns="Attribute3"))
    with pytest.raises(ValueError, match="lacks the columns credit_history"):
        GermanCredit(source=Source.ucimlrepo).load()
    answering(german_as_uci_sends_it().assign(Attribute3="A99"))
    with pytest.raises(ValueError, match="'credit_history' holds 'A99'"):
        GermanCredit(source=Source.ucimlrepo).load()
    answering(german_as_uci_sends_it().assign(**{"class": 3}))
    with pytest.raises(ValueError, match="target holds '3'"):
        GermanCredit(source=Source.ucimlrepo).load()


def test_a_missing_package_or_network_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ucimlrepo", None)
    with pytest.raises(ValueError, match=r"pip install 'mia_audit\[network\]'"):
        Adult(source=Source.ucimlrepo).load()

    def unreachable(**_options: object) -> None:
        raise ConnectionError("no route to host")

    stub = ModuleType("ucimlrepo")
    stub.fetch_ucirepo = unreachable  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ucimlrepo", stub)
    with pytest.raises(ValueError, match=r"no answer from the network.*dataset.source=bundled"):
        Adult(source=Source.ucimlrepo).load()
    stub = ModuleType("sklearn.datasets")
    stub.fetch_openml = unreachable  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sklearn", ModuleType("sklearn"))
    monkeypatch.setitem(sys.modules, "sklearn.datasets", stub)
    with pytest.raises(ValueError, match="source=openml got no answer"):
        GermanCredit(source=Source.openml).load()


@pytest.mark.parametrize("noun", NOUNS.values())
def test_nouns_are_structured_configs(noun: type) -> None:
    config = OmegaConf.merge(
        OmegaConf.structured(noun), {"encoding": "codes", "pool": None, "balanced": True}
    )
    assert OmegaConf.to_object(config) == noun(pool=None, balanced=True, encoding=Encoding.codes)
    with pytest.raises(ValidationError, match="encoding"):
        OmegaConf.merge(OmegaConf.structured(noun), {"encoding": "onehot"})
