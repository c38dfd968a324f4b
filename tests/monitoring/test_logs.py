"""Logs say what failed and where, without quoting rows and contents."""

import io
import logging
import sys
from collections.abc import Iterator

import asyncpg
import pytest

from clarion.monitoring.logs import configure_logging, describe_error

CONTENT = "canary\nHINT of a canary"


@pytest.fixture(params=[True, False], ids=["JSON lines", "text"])
def logged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged in one of the formats."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logging(level="info", json_lines=request.param)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


async def test_the_values_of_a_row_that_postgresql_refuses_are_left_out(logged: io.StringIO, postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute("CREATE TEMPORARY TABLE contents (content text, id int NOT NULL)")
        await connection.execute("INSERT INTO contents VALUES ($1, NULL)", CONTENT)
    except asyncpg.PostgresError:
        logging.getLogger("clarion.test").exception("Failed")
    finally:
        await connection.close()

    shown = logged.getvalue()
    assert 'null value in column \\"id\\"' in shown or 'null value in column "id"' in shown
    assert "DETAIL: left out" in shown
    assert "canary" not in shown


def test_the_description_of_an_error_names_its_kind_and_place_and_not_its_message() -> None:
    try:
        int("canary")
    except ValueError as error:
        described = describe_error(error)

    assert described.endswith("ValueError")
    assert "test_logs.py" in described
    assert "could not" not in described
