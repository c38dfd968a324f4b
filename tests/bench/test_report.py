"""The results and the report of a run."""

import math
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.chart import draw_cpu
from bench.figures import Figure, summarize
from bench.report import render_report
from bench.results import PartialRunError, Record, Run, read_run, require_complete, write_run


def make_run(*figures: Figure, records: list[Record] | None = None, scale: float = 1.0) -> Run:
    return Run(
        commit="0123456789ab",
        date="2026-01-01T12:00",
        machine={"Cores": "2"},
        scale=scale,
        seconds=600.0,
        records=records or [],
        figures=list(figures),
    )


def make_record(workload: str, *, system: str = "sqlite", problem: str = "") -> Record:
    return Record(workload=workload, system=system, planned_seconds=60, seconds=45, problem=problem)


def make_figure(value: float, *, system: str = "sqlite", name: str = "cpu_ms") -> Figure:
    return Figure("trigger", system, name, value, "ms")


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = make_run(make_figure(0.25), make_figure(math.inf), records=[make_record("trigger", problem="It ended.")])

    write_run(run, tmp_path / "results.jsonl")

    assert read_run(tmp_path / "results.jsonl") == run


def test_a_run_without_some_workloads_is_not_complete() -> None:
    run = make_run(records=[make_record("trigger")])

    with pytest.raises(PartialRunError, match="floors, pages"):
        require_complete(run, ["trigger", "pages", "floors"])


def test_a_run_with_small_counts_is_not_complete() -> None:
    with pytest.raises(PartialRunError, match="small counts"):
        require_complete(make_run(records=[make_record("trigger")], scale=0.05), ["trigger"])


def test_a_run_in_which_a_workload_failed_is_complete() -> None:
    require_complete(make_run(records=[make_record("trigger", problem="It ended.")]), ["trigger"])


def test_a_figure_is_shown_with_its_spread_and_unit() -> None:
    page = render_report(make_run(*map(make_figure, (0.3, 0.2, 0.25))), "picture.svg")

    assert "| trigger | cpu (ms) | 0.25 (0.2–0.3) |" in page


def test_every_system_has_a_column_with_empty_cells_for_missing_figures() -> None:
    figures = [make_figure(0.25), make_figure(14.0, system="baseline"), make_figure(9.0, name="post_p50_ms")]

    page = render_report(make_run(*figures), "picture.svg")

    assert "| Workload | Figure | sqlite | baseline |" in page
    assert "| trigger | post p50 (ms) | 9 |  |" in page


def test_goals_say_whether_they_were_met() -> None:
    page = render_report(make_run(make_figure(0.25), make_figure(14.0, system="baseline")), "picture.svg")

    assert "times less CPU than the baseline, all processes counted | ≥ 50 | 56 | met |" in page
    assert "| ≤ 100 MB | – | not measured |" in page


def test_goals_are_counted_by_how_they_were_met() -> None:
    figures = [make_figure(0.25), make_figure(13.0, system="baseline"), make_figure(1.5, name="statements")]

    page = render_report(make_run(*figures), "picture.svg")

    assert "1 are met (1 of them narrowly), 1 missed and" in page


def test_the_report_shows_the_commit_and_the_machine() -> None:
    page = render_report(make_run(make_figure(0.25)), "picture.svg")

    assert "| Commit | 0123456789ab |" in page
    assert "| Cores | 2 |" in page


def test_the_report_says_what_was_not_measured_and_why() -> None:
    records = [make_record("trigger", problem="no redis"), make_record("latency", problem="no redis")]

    page = render_report(make_run(make_figure(0.25), records=records), "picture.svg")

    assert "- Not measured on sqlite: trigger, latency: no redis." in page


def test_the_report_compares_planned_and_taken_minutes_of_a_workload() -> None:
    records = [make_record("trigger"), make_record("trigger", system="postgres")]

    assert "| trigger | 2.0 | 1.5 |" in render_report(make_run(records=records), "picture.svg")


def test_lists_have_a_table_of_their_own() -> None:
    figures = [
        Figure("pages", "postgres", f"feed: p95 {part}", value, "ms")
        for part, value in {"small": 2.0, "large": 3.0, "ratio": 1.5}.items()
    ]

    page = render_report(make_run(*figures), "picture.svg")

    assert "| feed |  |  |  | 2 | 3 | 1.5 |" in page
    assert "| pages |" not in page


def test_the_chart_has_a_bar_for_each_measured_system() -> None:
    figures = [make_figure(0.25), make_figure(14.0, system="baseline"), make_figure(0.0, system="floor http")]

    texts = [one.text for one in ET.fromstring(draw_cpu(summarize(figures))).iter() if one.text]

    assert {"in-app trigger, sqlite", "0.25", "in-app trigger, baseline", "14"} <= set(texts)


def test_the_chart_of_nothing_is_empty() -> None:
    assert "<rect x=" not in draw_cpu({})


def make_scaling(workers: str, rate: float) -> list[Figure]:
    values = {"per_second": rate, "cpu_worker_ms": 0.1, "cpu_postgres_ms": 0.2, "postgres_cores": 0.3, "quota_used": 1}
    return [Figure(f"backlog, {workers}", "postgres", name, value, "") for name, value in values.items()]


def test_more_workers_are_shown_with_their_ratio_to_one() -> None:
    figures = [*make_scaling("1 worker", 800.0), *make_scaling("4 workers", 3000.0)]

    page = render_report(make_run(*figures), "picture.svg")

    assert "| Backlog of in-app triggers | 4 | 3000 | 3.75 | 0.1 ms | 0.2 ms | 0.3 | 1 |" in page


def test_a_run_without_several_workers_has_no_section_about_them() -> None:
    assert "## More workers" not in render_report(make_run(make_figure(0.25)), "picture.svg")
