"""The plan of a run, and how its time is divided."""

from bench.plan import LIMIT_MINUTES, START, WORKLOADS, Budget, Step, plan_steps


def make_steps(*seconds: float) -> list[Step]:
    return [Step(workload=f"work {number}", system="sqlite", seconds=one) for number, one in enumerate(seconds)]


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> float:
        return self.seconds


def test_a_complete_run_is_planned_within_its_limit_with_a_reserve() -> None:
    planned = sum(step.seconds for step in plan_steps())

    assert planned <= 0.9 * LIMIT_MINUTES * 60


def test_every_workload_is_measured_on_each_of_its_systems() -> None:
    steps = {(step.workload, step.system) for step in plan_steps()}

    assert {(workload.name, system) for workload in WORKLOADS for system in workload.systems} <= steps


def test_rounds_are_interleaved() -> None:
    rounds = [step.round for step in plan_steps(["trigger", "floors"]) if step.round]

    assert rounds == sorted(rounds)
    assert max(rounds) == 6


def test_some_workloads_alone_have_what_they_need_and_no_others() -> None:
    steps = plan_steps(["stream"], rounds=2)

    assert {step.workload for step in steps if step.round} == {"stream"}
    assert {step.workload for step in steps if not step.round} == {START, "trigger"}
    assert max(step.round for step in steps) == 2


def test_a_workload_with_systems_of_its_own_starts_no_others() -> None:
    assert {step.workload for step in plan_steps(["takeover"])} == {"takeover"}


def test_a_step_may_take_its_own_time_and_what_is_left_but_not_that_of_later_steps() -> None:
    clock, steps = Clock(), make_steps(10, 20, 30)
    budget = Budget(steps, 65, clock.now)

    assert budget.begin(steps[0]) == 15
    clock.seconds += 4
    assert budget.begin(steps[1]) == 31
    clock.seconds += 31
    assert budget.begin(steps[2]) == 30


def test_nothing_is_left_for_a_step_when_the_time_is_over() -> None:
    clock, steps = Clock(), make_steps(10, 20)
    budget = Budget(steps, 30, clock.now)
    budget.begin(steps[0])
    clock.seconds += 40

    assert budget.begin(steps[1]) < 0
