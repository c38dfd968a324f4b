"""The results and the report of a run."""

from pathlib import Path

from bench.figures import Figure
from bench.report import render_report
from bench.results import Run, find_latest, read_run, update_run, write_run


def make_run(*figures: Figure, date: str = "2026-01-01T12:00", notes: list[str] | None = None) -> Run:
    return Run(date=date, machine={"Cores": "2"}, rounds=3, seconds=600.0, notes=notes or [], figures=list(figures))


def make_figure(value: float, *, system: str = "sqlite", name: str = "cpu_ms") -> Figure:
    return Figure("trigger", system, name, value, "ms")


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = make_run(make_figure(0.25), notes=["No comparison."])

    assert read_run(write_run(run, tmp_path)) == run


def test_the_newest_result_is_found(tmp_path: Path) -> None:
    assert find_latest(tmp_path) is None
    for date in ("2026-01-02T09:00", "2026-01-10T08:00", "2026-01-09T10:00"):
        write_run(make_run(date=date), tmp_path)

    newest = find_latest(tmp_path)

    assert newest is not None
    assert read_run(newest).date == "2026-01-10T08:00"


def test_figures_that_were_measured_again_replace_those_of_the_run_before() -> None:
    mailbox = Figure("mailbox", "sqlite", "page_ms", 4.0, "ms")
    statements = make_figure(0.2, name="statements")
    former = make_run(make_figure(0.3), mailbox, make_figure(0.2), statements, notes=["Noisy."])
    again = make_run(make_figure(0.1), date="2026-01-02T12:00")

    updated = update_run(former, again)

    assert updated.figures == [mailbox, statements, make_figure(0.1)]
    assert (updated.date, updated.notes[0]) == ("2026-01-02T12:00", "Noisy.")
    assert updated.notes[1].startswith("Measured later than the rest, on 2026-01-02T12:00 UTC")
    assert updated.notes[1].endswith(": trigger.")


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


def test_the_report_shows_notes_and_the_machine() -> None:
    page = render_report(make_run(make_figure(0.25), notes=["No comparison."]), "picture.svg")

    assert "| Cores | 2 |" in page
    assert "No comparison." in page


def make_scaling(workers: str, rate: float) -> list[Figure]:
    values = {"per_second": rate, "cpu_worker_ms": 0.1, "cpu_postgres_ms": 0.2, "postgres_cores": 0.3, "quota_used": 1}
    return [Figure(f"backlog, {workers}", "postgres", name, value, "") for name, value in values.items()]


def test_more_workers_are_shown_with_their_ratio_to_one() -> None:
    figures = [*make_scaling("1 worker", 800.0), *make_scaling("4 workers", 3000.0)]

    page = render_report(make_run(*figures), "picture.svg")

    assert "| Backlog of in-app triggers | 4 | 3000 | 3.75 | 0.1 ms | 0.2 ms | 0.3 | 1 |" in page


def test_a_run_without_several_workers_has_no_section_about_them() -> None:
    assert "## More workers" not in render_report(make_run(make_figure(0.25)), "picture.svg")
