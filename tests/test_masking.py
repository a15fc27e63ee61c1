"""No password or token survives masking, and nothing else changes."""

import pytest

from mia_audit.masking import masked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://me:hunter2@host:5000/x", "http://me:***@host:5000/x"),
        ("s3://key:p%40ss@bucket/a", "s3://key:***@bucket/a"),
        ("postgresql+psycopg2://u:p@h/db", "postgresql+psycopg2://u:***@h/db"),
        ("https://h/x?token=abc&y=1", "https://h/x?token=***&y=1"),
        ("https://h/x?api_key=abc", "https://h/x?api_key=***"),
        ("two: http://a:b@c http://d:e@f", "two: http://a:***@c http://d:***@f"),
    ],
)
def test_secrets_are_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text", ["sqlite:///mlflow.db", "http://host:5000", "a@b.c", "time 12:30 @ noon", ""]
)
def test_other_text_is_left_alone(text: str) -> None:
    assert masked(text) == text
