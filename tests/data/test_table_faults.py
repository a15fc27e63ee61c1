"""Tables that cannot be audited: one clear sentence each."""

from pathlib import Path

import pytest

from mia_audit.data import Table

PLAIN = "a,c,y\n1,u,no\n2,v,yes\n4,u,no\n5,v,yes\n"


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("", {}, "is empty"),
        (" \n\n", {}, "is empty"),
        ("a,y\n", {}, "has column names but no rows"),
        ("a,y\n1,0\n2,0\n", {}, "single value '0'"),
        ("a,y\n1,\n2,\n", {}, "has no values"),
        ("y\n0\n1\n", {}, "no column to learn from"),
        ("a,y\n3,0\n3,1\n", {}, "no column to learn from.*'a' is always 3"),
        ("a,income\n1,0\n2,1\n", {"target": "incme"}, "did you mean 'income'; its columns are a, "),
        ("a,Y\n1,0\n2,1\n", {}, "did you mean 'Y'"),
        ("a,y\n1,0\n2,1\n", {"drop": ["b"]}, "dataset.drop lists 'b', which is not a column"),
        ("age,y\n1,0\n2,1\n", {"numeric": ["agee"]}, "did you mean 'age'"),
        ("a,y\n1,0\n2,1\n", {"drop": ["y"]}, "'y', which is the target"),
        ("a,y\n1,0\n2,1\n", {"numeric": ["a"], "categorical": ["a"]}, "in dataset.numeric and"),
        ("a,y\nu,0\nv,1\n", {"numeric": ["a"]}, "only 0% of its values are numbers"),
        ("a,y\n1,0\n2,1\n", {"separator": ";;"}, "one character"),
        ("a,y\n1,0\n2,1\n", {"max_categories": 1}, "max_categories=1"),
        ("a,y\n" + "".join(f"1,{at}\n" for at in range(200)), {}, "200 different values"),
        ("a,y\n" + "".join(f"1,{at}.5\n" for at in range(30)), {}, "as a quantity has"),
        ("a,b,y\n1,2,0\n1,2,3,4,0\n", {}, "not a regular table: Expected 3 fields in line 3"),
        ("a,b,y\n1,2,0,7\n1,2,3\n", {}, "more fields than there are columns"),
        ('a,y\n"1,0\n2,1\n', {}, "not a regular table"),
        (b"PAR1 cut short", {}, "not a readable Parquet file"),
        (b"PK\x03\x04....", {}, "a spreadsheet or zip archive"),
        (b"\x00\x01\x02\x03", {}, "neither CSV nor Parquet"),
    ],
)
def test_one_clear_sentence(load, content: str | bytes, options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        load(content, **options)
    assert "\n" not in str(caught.value)


def test_missing_files_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "loans.csv").write_text(PLAIN)
    with pytest.raises(ValueError, match=r"no such file, did you mean 'loans.csv'\."):
        Table(str(tmp_path / "loan.csv"), "y").load()
    with pytest.raises(ValueError, match="is a folder"):
        Table(str(tmp_path), "y").load()
    with pytest.raises(ValueError, match=r"cannot be read: Protocol not known: nowhere"):
        Table("nowhere://x.csv", "y").load()
    (tmp_path / "bad.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="cannot be read"):
        Table(str(tmp_path / "bad.csv.gz"), "y").load()
    (tmp_path / "text.parquet").write_text(PLAIN)
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        Table(str(tmp_path / "text.parquet"), "y").load()
