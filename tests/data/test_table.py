"""Users' own tables: each awkward one works with a stated treatment."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from omegaconf import OmegaConf

from mia_audit.data import Dataset, Encoding, Table


def column(data: Dataset, name: str) -> np.ndarray:
    return data.X[:, data.feature_names.index(name)]


def noted(data: Dataset, *parts: str) -> bool:
    return any(all(part in note for part in parts) for note in data.notes)


PLAIN = "a,c,y\n1,u,no\n2,v,yes\n4,u,no\n5,v,yes\n"


def test_plain_csv(load) -> None:
    data = load(PLAIN)
    assert data.name == "own"
    assert data.feature_names == ("a", "c=u", "c=v")
    assert data.feature_kinds == ("numeric", "one_hot", "one_hot")
    assert data.class_names == ("no", "yes")
    np.testing.assert_array_equal(data.y, [0, 1, 0, 1])
    np.testing.assert_array_equal(data.rows, [0, 1, 2, 3])
    np.testing.assert_allclose(column(data, "a"), (np.array([1, 2, 4, 5]) - 3) / np.sqrt(2.5))
    assert noted(data, "1 numeric columns: a")
    assert noted(data, "1 categorical columns: c (2)")


def test_codes_leave_numbers_raw(load) -> None:
    data = load(PLAIN, encoding=Encoding.codes)
    np.testing.assert_array_equal(data.X, [[1, 0], [2, 1], [4, 0], [5, 1]])
    assert data.feature_kinds == ("numeric", "code")


def test_parquet_equals_csv_and_moving_the_file_keeps_the_digest(load, tmp_path: Path) -> None:
    as_csv = load(PLAIN)
    frame = pd.read_csv(tmp_path / "own.csv")
    assert load(frame, file="other.parquet").digest == as_csv.digest
    frame["c"] = frame["c"].astype("category")
    assert load(frame, file="no_ending").digest == as_csv.digest


def test_quoted_commas_and_line_breaks(load) -> None:
    data = load('a,c,y\n1,"u, with comma",0\n2,"v\nnext line",1\n3,"u, with comma",0\n')
    assert data.feature_names == ("a", "c=u, with comma", "c=v\nnext line")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_and_other_scripts(load, encoding: str) -> None:
    data = load(
        "größe,都市,y\n1,東京,はい\n2,Köln,いいえ\n3,東京,はい\n".encode(encoding), target="y"
    )
    assert data.feature_names == ("größe", "都市=Köln", "都市=東京")
    assert set(data.class_names) == {"はい", "いいえ"}


def test_windows_text_is_said(load) -> None:
    data = load("a,c,y\n1,Köln,0\n2,Genève,1\n3,Köln,0\n".encode("cp1252"))
    assert "c=Köln" in data.feature_names
    assert noted(data, "Windows-1252")


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators(load, separator: str) -> None:
    assert load(PLAIN.replace(",", separator)).digest == load(PLAIN).digest
    assert load(PLAIN.replace(",", "~"), separator="~").digest == load(PLAIN).digest


def test_decimal_commas(load) -> None:
    data = load("a;b;y\n1,5;1.234,5;0\n2;7;1\n3,25;2.000;0\n", encoding=Encoding.codes)
    np.testing.assert_array_equal(data.X, [[1.5, 1234.5], [2, 7], [3.25, 2000]])
    assert noted(data, "comma in 'a'")


def test_columns_without_content(load) -> None:
    data = load("a,empty,same,word,y\n1,,7,x,0\n2,NA,7,x,1\n3,,7,x,0\n")
    assert data.feature_names == ("a",)
    assert noted(data, "'empty' has no values")
    assert noted(data, "'same' is always 7")
    assert noted(data, "'word' is always 'x'")


def test_missing_values(load) -> None:
    data = load("a,c,k,y\n1,u,1,0\n?,,1,1\n9,v,,0\n2,u,1,1\n")
    assert data.feature_names == (
        *("a", "a=missing", "c=u", "c=v", "c=missing"),
        *("k=1", "k=missing"),
    )
    np.testing.assert_array_equal(column(data, "a=missing"), [0, 1, 0, 0])
    np.testing.assert_allclose(column(data, "a")[1], (2 - 4) / np.std([1, 9, 2]), rtol=1e-6)
    np.testing.assert_array_equal(column(data, "k=missing"), [0, 0, 1, 0])
    assert noted(data, "'a': 1 missing value set to the median 2")
    assert noted(data, "'k' is either 1 or missing")


def test_identifier_column_is_left_out(load) -> None:
    N = 20_000
    frame = pd.DataFrame({"id": [f"u{at}" for at in range(N)], "a": np.arange(N) % 7, "y": 0})
    frame.loc[::2, "y"] = 1
    data = load(frame, file="own.parquet")
    assert data.feature_names == ("a",)
    assert noted(data, "'id' has 20,000 different values")
    kept = load(frame, file="own.parquet", categorical=["id"], max_categories=3)
    assert kept.feature_names == ("id=u0", "id=u1", "id=other", "a")


def test_many_categories_keep_the_most_frequent(load) -> None:
    cities = ["x"] * 5 + ["z"] * 4 + ["b"] * 2 + ["a"] * 2 + ["q", ""]
    rows = "".join(f"{city},{at % 2}\n" for at, city in enumerate(cities))
    data = load("city,y\n" + rows, max_categories=4)
    assert data.feature_names == ("city=a", "city=x", "city=z", "city=other", "city=missing")
    assert column(data, "city=other").sum() == 3
    assert noted(data, "'city' has 5 categories: the 3 most frequent")


def test_class_of_a_single_row(load) -> None:
    data = load("a,y\n1,u\n2,v\n3,u\n4,w\n5,v\n")
    assert data.class_counts.tolist() == [2, 2, 1]
    assert noted(data, "single record", "'w'")


def test_infinite_and_huge_numbers(load) -> None:
    huge = 10**25
    text = f"a,b,c,y\n1,{huge},1e308,0\ninf,{huge + 10**24},2,1\n3,{huge},3,0\n-inf,{huge},5,1\n"
    data = load(text)
    assert np.isfinite(data.X).all()
    np.testing.assert_array_equal(column(data, "a=missing"), [0, 1, 0, 1])
    np.testing.assert_allclose(column(data, "b"), (np.array([0, 1, 0, 0]) - 0.25) / 0.4330127, 1e-6)
    np.testing.assert_array_equal(column(data, "c=missing"), [1, 0, 0, 0])
    assert noted(data, "'a': 2 values infinite")
    assert noted(data, "'b'", "2^53")
    only = load("a,b,y\n1,inf,0\n2,-inf,1\n")
    assert noted(only, "'b' has no finite values")


@pytest.mark.parametrize(
    ("written", "order"),
    [
        (["2024-01-31", "2024-02-01", "2024-02-03"], "year-month-day"),
        (["2024-01-31T00:00:00Z", "2024-02-01 00:00", "2024-02-03"], "year-month-day"),
        (["31.01.2024", "1.2.2024", "3.2.2024"], "day.month.year"),
        (["31/01/2024", "01/02/2024", "03/02/2024"], "day/month/year"),
        (["01/31/2024", "02/01/2024", "02/03/2024"], "month/day/year"),
    ],
)
def test_dates_become_days(load, written: list[str], order: str) -> None:
    rows = "".join(f"{date},{at % 2}\n" for at, date in enumerate(written))
    data = load("when,y\n" + rows, encoding=Encoding.codes)
    np.testing.assert_array_equal(column(data, "when"), [19753, 19754, 19756])
    assert noted(data, "'when'", order, "days since 1970-01-01")


def test_typed_parquet_columns(load) -> None:
    day = datetime.date(2024, 1, 31)
    frame = pd.DataFrame(
        {
            "stamp": pd.to_datetime(["2024-01-31 12:00", None, "2024-02-02 00:00"]).tz_localize(
                "CET"
            ),
            "date": [day, day + datetime.timedelta(1), day],
            "span": pd.to_timedelta([1, 2, 4], "D"),
            "money": [Decimal("1.50"), Decimal("2.25"), None],
            "flag": [True, False, None],
            "list": [[1], [2, 3], []],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "y": [True, False, True],
        }
    )
    data = load(frame, file="typed.parquet", encoding=Encoding.codes)
    assert data.class_names == ("False", "True")
    assert data.y.tolist() == [1, 0, 1]
    np.testing.assert_allclose(
        column(data, "stamp"), [19753 + 11 / 24, 19754 + 5 / 24, 19755], 1e-4
    )
    np.testing.assert_array_equal(column(data, "date"), [19753, 19754, 19753])
    np.testing.assert_array_equal(column(data, "span"), [1, 2, 4])
    np.testing.assert_array_equal(column(data, "money"), [1.5, 2.25, 1.875])
    np.testing.assert_array_equal(column(data, "flag"), [1, 0, 2])
    np.testing.assert_array_equal(column(data, "count"), [1, 2, 3])
    assert noted(data, "'list' holds lists")


def test_duplicate_column_names(load, tmp_path: Path) -> None:
    data = load("a,a,b,y\n1,7,u,0\n2,6,v,1\n4,9,u,0\n")
    assert data.feature_names[:2] == ("a", "a.1")
    assert noted(data, "'a' occurs more than once")
    table = pa.table([[1, 2, 4], [7, 6, 9], ["u", "v", "u"], [0, 1, 0]], names=["a", "a", "b", "y"])
    pq.write_table(table, tmp_path / "twice.parquet")
    assert Table(str(tmp_path / "twice.parquet"), "y").load().digest == data.digest


def test_target_repeated_among_the_features(load) -> None:
    data = load("a,y,y,copy\n1,u,u,u\n2,v,v,v \n4,u,u,u\n")
    assert data.feature_names == ("a",)
    assert noted(data, "'y.1' repeats the target")
    assert noted(data, "'copy' repeats the target")
    with pytest.raises(ValueError, match="several columns 'y' with different values"):
        load("a,y,y\n1,u,v\n2,v,v\n4,u,u\n")


def test_mixed_numbers_and_text(load) -> None:
    mostly = "".join(f"{at},{at % 2}\n" for at in range(60))
    data = load("a,y\n" + mostly + "unknown,0\n")
    assert data.feature_names == ("a", "a=missing")
    assert noted(data, "'a': 1 value such as 'unknown'")
    mixed = load("a,y\n1,0\nx,1\n1,0\nx,1\n2,1\n2,0\n")
    assert mixed.feature_names == ("a=1", "a=2", "a=x")
    forced = load("a,y\n1,0\nx,1\n1,0\nx,1\n2,1\n2,0\n", numeric=["a"])
    assert forced.feature_names == ("a", "a=missing")


def test_overrides(load) -> None:
    data = load("code,a,y\n1,5,0\n2,6,1\n1,8,0\n", categorical=["code"], drop=["a"])
    assert data.feature_names == ("code=1", "code=2")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["True", "False", "True"], ("False", "True")),
        (["10", "9", "9"], ("9", "10")),
        (["1.0", "0", "1"], ("0", "1")),
        (["-1", "1", "0"], ("-1", "0", "1")),
        ([" b", "a ", "b"], ("a", "b")),
    ],
)
def test_targets_of_every_kind(load, labels: list[str], names: tuple[str, ...]) -> None:
    rows = "".join(f"{at},{label}\n" for at, label in enumerate(labels))
    data = load("a,y\n" + rows)
    assert data.class_names == names


def test_rows_without_a_label_are_left_out(load) -> None:
    data = load("a,y\n1,0\n2,\n3,1\n7,inf\n4,0\n")
    assert data.class_names == ("0", "1")
    assert data.rows.tolist() == [0, 2, 4]
    assert noted(data, "2 of 5 rows have no label")


def test_names_with_spaces_and_signs(load) -> None:
    data = load(" my column ,a=b,is it?\n1,u,0\n2,v,1\n3,u,0\n", target="is it?")
    assert data.feature_names == ("my column", "a=b=u", "a=b=v")


def test_row_counters_and_row_names(load, tmp_path: Path) -> None:
    plain = load(PLAIN)
    counted = load(pd.read_csv(tmp_path / "own.csv").to_csv())
    assert counted.digest == plain.digest
    assert noted(counted, "only counts the rows")
    named = load("a,c,y\nr1,1,u,no\nr2,2,v,yes\nr3,4,u,no\nr4,5,v,yes\n")
    assert named.digest == plain.digest
    assert noted(named, "row name")
    trailing = load("a;c;y\n1;u;no;\n2;v;yes;\n4;u;no;\n5;v;yes;\n")
    assert trailing.digest == plain.digest
    assert noted(load("id,a,y\n1,5,0\n2,9,1\n3,4,0\n"), "'id' counts the rows", "dataset.drop=[id]")


def test_copies_are_counted(load) -> None:
    assert noted(load("a,y\n1,0\n1,0\n1,1\n2,1\n"), "Exact copies of an earlier record: 1")


def test_compressed_and_remote_files(tmp_path: Path) -> None:
    import fsspec

    pd.read_csv(pd.io.common.StringIO(PLAIN)).to_csv(tmp_path / "own.csv.gz", index=False)
    local = Table(str(tmp_path / "own.csv.gz"), "y").load()
    assert local.name == "own"
    with fsspec.open("memory://bucket/own.csv", "w") as file:
        file.write(PLAIN)
    assert Table("memory://bucket/own.csv", "y").load().digest == local.digest


def test_the_noun_is_a_structured_config() -> None:
    config = OmegaConf.structured(Table)
    assert OmegaConf.is_missing(config, "path")
    table = OmegaConf.to_object(
        OmegaConf.merge(config, {"path": "a/loans.2024.csv", "target": "y", "drop": ["id"]})
    )
    assert table == Table("a/loans.2024.csv", "y", drop=["id"])
    assert table.name == "loans"
    assert table.pool is None
