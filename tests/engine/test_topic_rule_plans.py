"""The statements about rules of topics read few rows, also in a store without statistics."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.query import Query
from clarion.engine.topic_rules import HAS_RULES, LIST_PEOPLE_WITH_RULES, LIST_SUBSCRIPTIONS
from clarion.topics.subscriptions import LIST_OWN_IDS, LIST_OWN_IDS_BY_REFERENCE

ID = bytes(16)
FAN_OUT = {"topic_ids": [ID], "subscriber_ids": [ID] * 128}
OWN = {"subscriber_id": ID, "key": "news", "reference": "weekly", "id": None}


@pytest.mark.parametrize(
    ("query", "parameters", "index"),
    [
        (HAS_RULES, FAN_OUT, "topic_subscriptions_rules (environment_id=? AND topic_id=?)"),
        (LIST_PEOPLE_WITH_RULES, FAN_OUT, "topic_subscriptions_rules (environment_id=? AND topic_id=? AND subscriber"),
        (LIST_SUBSCRIPTIONS, FAN_OUT, "topic_subscriptions_member (environment_id=? AND topic_id=? AND subscriber"),
        (LIST_OWN_IDS, OWN, "topic_subscriptions_member (environment_id=? AND topic_id=? AND subscriber"),
        (LIST_OWN_IDS_BY_REFERENCE, OWN, "topic_subscriptions_subscriber (environment_id=? AND subscriber"),
    ],
)
def test_sqlite_finds_the_rows_by_an_index(
    tmp_path: Path, query: Query, parameters: dict[str, Any], index: str
) -> None:
    migrate_sqlite(tmp_path / "clarion.db")
    text, values = query.sqlite_call({"environment_id": ID, **parameters})

    with sqlite3.connect(tmp_path / "clarion.db") as connection:
        plan = "\n".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values))
    connection.close()

    assert index in plan
    assert "PRIMARY KEY (environment_id=?)" not in plan
