"""Messages with overrides: the requests are those of the golden files."""

import pytest

from tests.providers.contract.golden import record
from tests.providers.contract.variants import VARIANTS, VARIANTS_FOLDER, Variant


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.file)
async def test_the_request_with_overrides_matches_the_golden_file(variant: Variant) -> None:
    assert await record(variant.case) == (VARIANTS_FOLDER / variant.file).read_text()


def test_every_golden_file_of_a_variant_is_compared() -> None:
    assert {path.name for path in VARIANTS_FOLDER.glob("*.json")} == {one.file for one in VARIANTS}
