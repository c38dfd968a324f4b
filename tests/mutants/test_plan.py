"""Which tests belong to a module."""

import pytest

from tests.mutants.plan import MODULES, OTHER_TESTS, ROOT, find_tests


def list_modules() -> list[str]:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "src" / "clarion").rglob("*.py")]
    return [path for path in files if path.startswith(MODULES)]


@pytest.mark.parametrize("name", [*MODULES, *(f"src/clarion/{prefix}" for prefix in OTHER_TESTS)])
def test_what_the_plan_names_exists(name: str) -> None:
    assert any(module.startswith(name) for module in list_modules())


def test_every_mutated_module_has_tests_that_exist() -> None:
    missing = {test for module in list_modules() for test in find_tests(module) if not (ROOT / test).exists()}

    assert missing == set()


def test_the_test_of_the_same_name_comes_first_and_then_the_nearest_folder() -> None:
    assert find_tests("src/clarion/providers/transport/egress.py") == (
        "tests/providers/transport/test_egress.py",
        "tests/providers/transport",
    )


def test_a_folder_without_tests_of_its_own_has_those_of_its_room() -> None:
    assert find_tests("src/clarion/conditions/nothing/model.py") == ("tests/conditions",)


def test_other_rooms_come_last() -> None:
    assert find_tests("src/clarion/times/model.py")[-1] == "tests/engine/test_time.py"


def test_a_module_without_tests_is_refused() -> None:
    with pytest.raises(ValueError, match="has no tests"):
        find_tests("src/clarion/nowhere/model.py")
