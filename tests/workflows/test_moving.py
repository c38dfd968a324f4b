"""Steps of runs that go on with another version than they started with."""

from clarion.clock import Millis
from clarion.ids import EnvironmentId, WorkflowId, WorkflowVersionId
from clarion.vocabulary import StepType
from clarion.workflows.model import Step, StepPlace, WorkflowVersion
from clarion.workflows.moving import find_same, list_next, list_rest, move_steps


def make_step(name: str, within: str | None = None, *, active: bool = True, body: str = "") -> Step:
    """A step by its name; that of a branch ends with a question mark, and `within` is `branch?/path`."""
    is_branch = name.endswith("?")
    controls = {"paths": [{"name": "yes"}, {"name": "no"}]} if is_branch else {"body": body}
    place = None if within is None else StepPlace(*within.split("/"))
    kind = StepType.BRANCH if is_branch else StepType.IN_APP
    return Step(id=name, step_id=name, name=name, type=kind, active=active, controls=controls, within=place)


def make_version(*steps: Step | str) -> WorkflowVersion:
    return WorkflowVersion(
        environment_id=EnvironmentId(bytes(16)),
        id=WorkflowVersionId(bytes(16)),
        workflow_id=WorkflowId(bytes(16)),
        number=1,
        steps=[make_step(one) if isinstance(one, str) else one for one in steps],
        payload_schema=None,
        validate_payload=False,
        created_at=Millis(0),
    )


def names(steps: list[Step] | None) -> list[str] | None:
    return None if steps is None else [step.step_id for step in steps]


def move(base: WorkflowVersion, onto: WorkflowVersion, at: str, *, keeps_step: bool = False) -> list[Step] | None:
    position = next(number for number, step in enumerate(base.steps) if step.step_id == at)
    return move_steps(base, onto, position, keeps_step=keeps_step)


def test_a_run_keeps_what_it_has_done_and_goes_on_with_what_follows() -> None:
    base, onto = make_version("a", "b", "c", "d"), make_version("x", "b", "y", "d", "z")

    assert names(move(base, onto, "b")) == ["a", "b", "y", "d", "z"]


def test_the_step_that_it_is_at_is_as_in_the_second_version_unless_it_is_kept() -> None:
    base = make_version("a", make_step("b", body="old"), "c")
    onto = make_version("a", make_step("b", body="new"), "c")

    new, kept = move(base, onto, "b"), move(base, onto, "b", keeps_step=True)

    assert [step.controls for step in new or ()][1] == {"body": "new"}
    assert [step.controls for step in kept or ()][1] == {"body": "old"}


def test_a_step_that_was_done_before_is_not_done_again() -> None:
    base, onto = make_version("a", "b", "c"), make_version("b", "c", "a", "d")

    assert names(move(base, onto, "b")) == ["a", "b", "c", "d"]


def test_a_step_that_is_gone_goes_on_at_the_first_behind_it_that_is_left() -> None:
    base, onto = make_version("a", "b", "c", "d"), make_version("a", "x", "d", "e")

    assert move(base, onto, "b") is None
    assert names(move(base, onto, "b", keeps_step=True)) == ["a", "b", "d", "e"]
    assert names(move(base, make_version("a", "x"), "b", keeps_step=True)) == ["a", "b"]


def test_a_step_that_is_switched_off_or_of_another_type_is_gone() -> None:
    step = make_step("b")
    other = Step(id="b", step_id="b", name="b", type=StepType.SMS, active=True, controls={})

    assert find_same([make_step("a"), step], step) == 1
    assert find_same([make_step("a")], step) is None
    assert find_same([make_step("b", active=False)], step) is None
    assert find_same([other], step) is None


def test_what_follows_within_a_branch_is_the_rest_of_the_path_and_then_what_is_behind_the_branch() -> None:
    steps: list[Step | str] = [
        *("a", "fork?"),
        *(make_step("b", "fork?/yes"), make_step("c", "fork?/yes"), make_step("d", "fork?/no")),
        "e",
    ]
    version = make_version(*steps)

    assert [version.steps[one].step_id for one in list_rest(version.steps, 2)] == ["c", "e"]
    assert [version.steps[one].step_id for one in list_rest(version.steps, 1)] == ["e"]
    assert [version.steps[one].step_id for one in list_rest(version.steps, 4)] == ["e"]
    moved = move(version, version, "b")
    assert moved is not None
    assert names(moved) == ["a", "fork?", "b", "c", "e"]
    assert moved[3].within == StepPlace("fork?", "yes")
    assert [moved[one].step_id for one in list_next(moved, 2)] == ["c", "e"]


def test_branches_that_follow_come_with_their_paths() -> None:
    base = make_version("a", "b")
    onto = make_version(
        *("a", "fork?", make_step("b2", "fork?/yes"), make_step("deep?", "fork?/yes"), make_step("c", "deep?/no"), "d")
    )

    moved = move(base, onto, "a")

    assert names(moved) == ["a", "fork?", "b2", "deep?", "c", "d"]
    assert moved is not None
    assert [moved[one].step_id for one in list_next(moved, 0)] == ["fork?", "d"]


def test_what_follows_a_step_that_moved_out_of_its_branch_stands_by_itself() -> None:
    base = make_version("a", "fork?", make_step("b", "fork?/yes"), "c")
    onto = make_version("a", "other?", make_step("b", "other?/no"), make_step("d", "other?/no"), "c")

    moved = move(base, onto, "b")

    assert moved is not None
    assert names(moved) == ["a", "fork?", "b", "d", "c"]
    assert (moved[2].within, moved[3].within) == (StepPlace("fork?", "yes"), None)
    assert [moved[one].step_id for one in list_next(moved, 2)] == ["d", "c"]


def test_moving_twice_keeps_both_beginnings() -> None:
    first, second, third = make_version("a", "b", "c"), make_version("a", "b", "x", "c"), make_version("x", "c", "d")
    middle = move(first, second, "b")
    assert middle is not None

    assert names(move(make_version(*middle), third, "x")) == ["a", "b", "x", "c", "d"]
