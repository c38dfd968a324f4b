"""Comparisons with an earlier revision."""

from pathlib import Path

import pytest

from bench.compare import Comparison, export_sources


def test_a_comparison_shows_the_ratios_of_pairs_and_of_the_sums() -> None:
    comparison = Comparison("trigger, cpu_ms", then=[0.2, 0.4], now=[0.3, 0.4])

    assert comparison.ratios == pytest.approx([1.5, 1.0])
    assert comparison.standard_error == pytest.approx(0.25)
    assert comparison.describe() == (
        "trigger, cpu_ms: 0.3000 ms then, 0.3500 ms now; ratio of the sums 1.167, median 1.250, mean 1.250 ± 0.250"
    )


def test_the_package_of_a_revision_is_written_into_a_folder(tmp_path: Path) -> None:
    source = export_sources("HEAD", tmp_path)

    assert source == tmp_path / "src"
    assert (source / "clarion" / "__init__.py").exists()
