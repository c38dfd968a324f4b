"""What processes say when they start and stop."""

from pathlib import Path

from tests.processes import Start


def test_a_second_process_on_a_sqlite_store_is_warned_of(start: Start, tmp_path: Path) -> None:
    log, data = tmp_path / "log", ["--data-dir", str(tmp_path / "data")]
    first = start("serve", *data)
    second = start("serve", *data, CLARION_LOG_FILE=str(log), CLARION_LOG_FORMAT="json")
    second.stop()

    (warning,) = [line for line in log.read_text().splitlines() if "Another process serves this SQLite store" in line]
    assert f'"pid":{first.popen.pid}' in warning.replace(" ", "")
