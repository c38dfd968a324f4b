"""The faults that the tool for mutants makes."""

import ast

import pytest

from tests.mutants.__main__ import EQUIVALENT, ROOT, read_equivalent
from tests.mutants.operators import list_mutants


def faults_of(source: str) -> list[str]:
    return [one.id.partition(" | ")[2] for one in list_mutants("m.py", source)]


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("x = a < b", ["comparison | a < b -> a <= b"]),
        ("x = a is not None", ["comparison | a is not None -> a is None"]),
        ("x = a and b", ["and/or | a and b -> a or b"]),
        ("x = not a", ["negation | not a -> a"]),
        ("if a:\n    b = c", ["negation | a -> not a"]),
        ("x = 3", ["constant | 3 -> 4"]),
        ("x = True", ["constant | True -> False"]),
        ("f(x)", ["removal | f(x) -> pass"]),
        ("async def f():\n    await g(x)", ["removal | await g(x) -> pass"]),
        ("def f():\n    return x", ["return | return x -> return None"]),
        ("x: Literal[3] = y", []),
        ("class C(Struct, frozen=True):\n    x: int", []),
        ("log.warning('x', extra={'n': 1})", []),
        ('"""Text."""\nx = "text"', []),
    ],
)
def test_each_place_has_its_faults_and_what_does_not_run_has_none(source: str, faults: list[str]) -> None:
    assert faults_of(source) == faults


def test_a_mutant_differs_in_one_place_and_the_same_fault_twice_has_two_ids() -> None:
    source = "a = x == 1\nb = x == 1"
    first, second = [one for one in list_mutants("m.py", source) if "comparison" in one.id]

    assert first.source == "a = x != 1\nb = x == 1"
    assert second.source == "a = x == 1\nb = x != 1"
    assert second.id == first.id + " #2"


def test_mutants_of_a_module_are_valid() -> None:
    for one in list_mutants("vault", (ROOT / "src/clarion/vault.py").read_text()):
        ast.parse(one.source)


def test_equivalent_mutants_are_read_with_their_reasons() -> None:
    text = "# note\n\na | b | c -> d\n    one reason\n    of two lines\ne\n    another\n"

    assert read_equivalent(text) == {"a | b | c -> d": "one reason of two lines ", "e": "another "}


def test_every_mutant_that_is_listed_as_equivalent_exists_and_has_a_reason() -> None:
    for name, reason in read_equivalent(EQUIVALENT.read_text()).items():
        module = name.partition(" | ")[0]
        assert name in {one.id for one in list_mutants(module, (ROOT / module).read_text())}
        assert reason
