"""Every code that is recorded as an execution detail is known to the explanations."""

import re
from pathlib import Path

import clarion
from clarion.explain.model import DecisionKind
from clarion.explain.rules import RULES
from clarion.jobs.details import DetailCode

SOURCE = Path(clarion.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"


def test_each_code_has_a_rule() -> None:
    assert RULES.keys() == set(DetailCode) - {DetailCode.STEP_QUEUED}


def test_each_code_is_recorded_somewhere() -> None:
    modules = [path for path in SOURCE.rglob("*.py") if "explain" not in path.parts and path.name != "details.py"]
    recorded = {name for path in modules for name in re.findall(r"DetailCode\.(\w+)", path.read_text())}

    # A bounce was stored without a code before there were codes; a step is canceled in `jobs/details.py`.
    assert DetailCode.__members__.keys() - recorded == {"BOUNCED", "CANCELED"}


def test_each_kind_of_decision_has_a_section_in_the_documentation() -> None:
    text = (DOCS / "explain.md").read_text()

    missing = [kind for kind in DecisionKind if f"\n### {kind}\n" not in text]
    assert missing == []
