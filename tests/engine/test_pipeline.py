"""The pipeline of sends and webhooks: whatever fails, each item is recorded or left to its lease."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import ManualClock, Millis
from clarion.engine import pipeline as pipelines
from clarion.engine.pipeline import InFlight, Pipeline, Tasks
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId

FIRST, SECOND = EnvironmentId(b"1" * 16), EnvironmentId(b"2" * 16)
LOGGER = logging.getLogger("tests.pipeline")


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipelines, "PAUSE_SECONDS", 0.0)


@dataclass(eq=False)
class Call:
    """An item, and what is to happen to it."""

    environment_id: EnvironmentId = FIRST
    error: Exception | None = None
    """Raised when it is performed."""
    has_result: bool = True
    is_slow: bool = False
    """Whether it ends only by being cancelled."""
    may_end: asyncio.Event | None = None
    unwritable: int = 0
    """How often its result cannot be written."""
    times_performed: int = 0
    is_failed: bool = False


async def pass_by() -> None:
    """Nothing to wait for before a group is recorded."""


@dataclass
class Line:
    """A pipeline over plain functions, and what they were called with."""

    outages: int = 0
    """How often the store cannot be used."""
    can_fail: bool = True
    gather_seconds: float = 0.0
    before_recording: Callable[[], Awaitable[None]] = pass_by
    recorded: list[list[Call]] = field(default_factory=list)
    tried: set[Call] = field(default_factory=set)
    moments: list[Millis] = field(default_factory=list)
    alone: list[Call] = field(default_factory=list)
    """Those that could not be recorded, although each was alone."""

    def __post_init__(self) -> None:
        self.in_flight = InFlight[Call]()
        self.clock = ManualClock(Millis(1))
        self.pipeline = Pipeline(
            self.in_flight,
            self.clock,
            LOGGER,
            perform=self.perform,
            record=self.record,
            log_unrecorded=lambda call, _: self.alone.append(call),
            make_failed=self.make_failed if self.can_fail else None,
            gather_seconds=self.gather_seconds,
        )

    async def perform(self, call: Call) -> bool:
        assert call in set(self.in_flight)
        call.times_performed += 1
        await asyncio.sleep(3600 if call.is_slow else 0)
        if call.may_end is not None:
            await call.may_end.wait()
        if call.error is not None:
            raise call.error
        return call.has_result

    async def record(self, environment_id: EnvironmentId, calls: Sequence[Call], now: Millis) -> None:
        self.moments.append(now)
        self.tried |= set(calls)
        assert {call.environment_id for call in calls} == {environment_id}
        assert set(calls) <= set(self.in_flight)
        await self.before_recording()
        self.clock.move(1)
        if self.outages:
            self.outages -= 1
            raise StoreUnavailable("out for a moment")
        bad = [call for call in calls if call.unwritable]
        for call in bad:
            call.unwritable -= 1
        if bad:
            raise RuntimeError("a bug")
        self.recorded.append(list(calls))

    def make_failed(self, call: Call, now: Millis) -> None:
        assert now == self.clock.now()
        call.is_failed = True

    async def run(self, *calls: Call) -> None:
        self.pipeline.start(calls)
        await self.pipeline.finish()
        assert len(self.in_flight) == 0


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.name == LOGGER.name]


async def test_all_claims_are_made_although_one_fails_and_the_failure_is_raised() -> None:
    made: list[int] = []

    async def claim(number: int, *, finds: bool = False, fails: bool = False) -> bool:
        await asyncio.sleep(0)
        made.append(number)
        if fails:
            raise StoreUnavailable("out for a moment")
        return finds

    pipeline = Line().pipeline
    assert await pipeline.claim([]) is False
    assert await pipeline.claim([claim(1), claim(2)]) is False
    assert await pipeline.claim([claim(3), claim(4, finds=True)]) is True
    with pytest.raises(StoreUnavailable):
        await pipeline.claim([claim(5, fails=True), claim(6, finds=True)])
    assert made == [1, 2, 3, 4, 5, 6]


async def test_items_are_performed_at_the_same_time_and_recorded_in_a_group_of_their_environment() -> None:
    calls = [Call(FIRST), Call(SECOND), Call(FIRST)]
    line = Line()

    await line.run(*calls)

    assert line.recorded == [[calls[0], calls[2]], [calls[1]]]


async def test_results_that_come_while_a_group_is_recorded_form_the_next_one() -> None:
    line, late = Line(), [Call(), Call()]

    async def start_more() -> None:
        if not line.recorded and not late[0].times_performed:
            line.pipeline.start(late)
            await asyncio.sleep(0.01)

    line.before_recording = start_more
    first = Call()
    await line.run(first)

    assert line.recorded == [[first], late]


@pytest.mark.parametrize(("count", "groups"), [(16, 2), (17, 1)])
async def test_results_wait_for_others_only_where_many_are_being_performed(count: int, groups: int) -> None:
    line, quick, may_end = Line(gather_seconds=0.5), Call(), asyncio.Event()
    others = [Call(may_end=may_end) for _ in range(count)]
    line.pipeline.start([quick, *others])
    await asyncio.sleep(0.002)
    may_end.set()
    await line.pipeline.finish()

    assert len(line.recorded) == groups


async def test_an_item_without_a_result_is_released_and_not_recorded() -> None:
    line, rest = Line(), Call()

    await line.run(Call(has_result=False), rest)

    assert line.recorded == [[rest]]


async def test_an_item_stays_in_flight_until_it_is_recorded() -> None:
    line, call = Line(), Call()
    seen: list[set[Call]] = []

    async def look() -> None:
        seen.append(set(line.in_flight))

    line.before_recording = look
    await line.run(call)

    assert seen == [{call}]


@pytest.mark.parametrize("is_full", [False, True])
async def test_a_recorded_item_wakes_the_claims_if_there_was_no_room_for_all(is_full: bool) -> None:
    line = Line()
    line.pipeline.is_full = is_full

    await line.run(Call())

    assert line.pipeline.wake_up.is_set() is is_full


async def test_results_are_written_when_the_store_can_be_used_again_as_of_the_moment_they_came(
    caplog: pytest.LogCaptureFixture,
) -> None:
    line, calls = Line(outages=2), [Call(), Call()]

    await line.run(*calls)

    assert line.recorded == [calls]
    assert line.moments == [1, 1, 1]
    assert messages(caplog) == ["Recording postponed"] * 2
    assert {vars(record)["count"] for record in caplog.records} == {2}


async def test_at_the_end_results_are_left_to_the_lease_where_the_store_cannot_be_used(
    caplog: pytest.LogCaptureFixture,
) -> None:
    line = Line(outages=1000)
    line.pipeline.start([Call()])

    await line.pipeline.drain(None)
    await line.pipeline.cancel()

    assert (line.recorded, len(line.in_flight), line.outages) == ([], 0, 999)
    assert messages(caplog) == ["Recording postponed"]


async def test_a_group_that_fails_unexpectedly_is_recorded_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    calls = [Call(), Call(unwritable=1), Call()]
    line = Line()

    await line.run(*calls)

    assert line.recorded == [[call] for call in calls]
    assert (line.alone, [call.is_failed for call in calls]) == ([], [False] * 3)
    assert messages(caplog) == ["Results not recorded"]


@pytest.mark.parametrize(("unwritable", "failures"), [(2, 1), (3, 2)])
async def test_a_result_that_cannot_be_written_alone_is_recorded_as_failed(unwritable: int, failures: int) -> None:
    bad, good = Call(unwritable=unwritable), Call()
    line = Line()

    await line.run(bad, good)

    assert line.recorded == ([[bad], [good]] if failures == 1 else [[good]])
    assert (bad.is_failed, good.is_failed, line.alone) == (True, False, [bad] * failures)


async def test_a_single_result_that_cannot_be_written_is_recorded_as_failed_at_once() -> None:
    bad, line = Call(unwritable=1), Line()

    await line.run(bad)

    assert (line.recorded, bad.is_failed, line.alone) == ([[bad]], True, [])


async def test_a_result_that_cannot_be_written_is_left_to_the_lease_where_nothing_replaces_it() -> None:
    bad, good, line = Call(unwritable=2), Call(), Line(can_fail=False)

    await line.run(bad, good)

    assert (line.recorded, line.alone, bad.is_failed) == ([[good]], [bad], False)


async def test_what_is_performed_has_the_grace_period_and_is_cancelled_then() -> None:
    line, quick, slow = Line(), Call(), Call(is_slow=True)
    line.pipeline.start([quick, slow])

    await line.pipeline.drain(0.01)
    assert (line.recorded, set(line.in_flight)) == ([[quick]], {slow})
    await line.pipeline.cancel()

    assert (line.recorded, len(line.in_flight)) == ([[quick]], 0)


async def test_a_claim_that_has_begun_at_the_end_is_performed() -> None:
    line, call, may_go_on = Line(), Call(), asyncio.Event()

    async def claim() -> bool:
        await may_go_on.wait()
        line.pipeline.start([call])
        return True

    claiming = asyncio.create_task(line.pipeline.claim([claim()]))
    await asyncio.sleep(0)
    claiming.cancel()
    await asyncio.wait([claiming])
    may_go_on.set()
    await line.pipeline.drain(None)
    await line.pipeline.cancel()

    assert line.recorded == [[call]]


CALLS = st.builds(
    Call,
    environment_id=st.sampled_from([FIRST, SECOND]),
    error=st.sampled_from([None, None, RuntimeError("a bug")]),
    has_result=st.booleans(),
    is_slow=st.booleans(),
    unwritable=st.integers(0, 4),
)


@given(st.lists(CALLS, max_size=8), st.integers(0, 3), st.booleans())
@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_fails_an_item_is_recorded_or_left_to_its_lease_and_none_stays_in_flight(
    calls: list[Call], outages: int, can_fail: bool
) -> None:
    async def run() -> Line:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        line = Line(outages=outages, can_fail=can_fail)
        line.pipeline.start(calls)
        await asyncio.sleep(0.001)
        await line.pipeline.drain(0.001)
        await line.pipeline.cancel()
        return line

    has_bad_result = {call: call.unwritable > 0 for call in calls}
    line = asyncio.run(run())
    recorded = Counter(call for group in line.recorded for call in group)

    assert len(line.in_flight) == 0
    assert set(recorded.values()) <= {1}
    for call in calls:
        is_performed = call.has_result and not call.is_slow and call.error is None
        assert call.times_performed == 1
        assert not recorded[call] or is_performed
        assert call in line.tried or not is_performed
        assert recorded[call] or not is_performed or has_bad_result[call] or outages


async def test_waiting_for_tasks_ends_with_the_limit_of_time_and_finishing_with_the_tasks() -> None:
    tasks, may_end = Tasks(), asyncio.Event()
    ended: list[str] = []

    async def start_another() -> None:
        await may_end.wait()
        tasks.start(end())

    async def end() -> None:
        await asyncio.sleep(0)
        ended.append("second")

    await tasks.wait(None)
    tasks.start(start_another())
    await tasks.wait(0.001)
    assert ended == []

    may_end.set()
    await tasks.finish()
    assert ended == ["second"]
