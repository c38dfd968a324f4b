"""All cases, one module each in `cases`."""

import importlib
from pathlib import Path

from tests.providers.contract.case import Case

CASES: tuple[Case, ...] = tuple(
    importlib.import_module(f"tests.providers.contract.cases.{path.stem}").CASE
    for path in sorted((Path(__file__).parent / "cases").glob("*.py"))
    if path.stem != "__init__"
)
