"""Shapes of the health of integrations, and of the use of providers."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import DAY, HOUR, Millis, iso_text
from clarion.errors import Invalid
from clarion.http.wire import DateTimeText, IdText, MomentText, Wire, given
from clarion.ids import id_text
from clarion.integrations.counts import CallCount
from clarion.providers.definition.result import FailureKind
from clarion.sending.calls import CallError
from clarion.sending.health import Circuit, TokenBucket
from clarion.vocabulary import Channel

_MAX_RANGE = Millis(366 * DAY)
_MAX_HOURS = Millis(31 * DAY)


class CircuitState(StrEnum):
    CLOSED = "closed"
    """It works, as far as is known."""
    OPEN = "open"
    """Nothing is sent through it until `openUntil`."""
    HALF_OPEN = "halfOpen"
    """The next message finds out whether it works again."""


class TimeQuery(Wire):
    """A time, in whole hours; by default the last 24."""

    after: MomentText | None = None
    """When the time begins; by default 24 hours before it ends, and 30 days for usage."""
    before: MomentText | None = None
    """When the time ends; by default now."""

    def read(self, now: Millis, *, default: Millis = DAY, longest: Millis = _MAX_RANGE) -> tuple[Millis, Millis]:
        """Return the beginning and the end; raises Invalid if they are reversed or too far apart."""
        before = Millis(now + 1) if self.before is None else self.before.moment
        after = Millis(before - default) if self.after is None else self.after.moment
        if after >= before:
            raise Invalid.field("after", "must lie before 'before'", str(self.after))
        if before - after > longest:
            raise Invalid.field("after", f"must lie at most {longest // DAY} days before 'before'", str(self.after))
        return Millis(max(after, 0)), before


class UsageBucket(StrEnum):
    HOUR = "hour"
    DAY = "day"
    """Of UTC."""

    @property
    def length(self) -> Millis:
        return HOUR if self is UsageBucket.HOUR else DAY


class BucketQuery(TimeQuery):
    """A time, by default the last 30 days; by hours, at most 31 days."""

    bucket: UsageBucket = UsageBucket.DAY
    """Whether to count by hours or by days."""

    def read_usage(self, now: Millis) -> tuple[Millis, Millis]:
        longest = _MAX_HOURS if self.bucket is UsageBucket.HOUR else _MAX_RANGE
        return self.read(now, default=Millis(30 * DAY), longest=longest)

    def start_of_bucket(self, moment: Millis) -> Millis:
        return Millis(moment - moment % self.bucket.length)


class UsageQuery(BucketQuery):
    integration_id: IdText | None = None
    """Counts one integration alone."""


class CircuitOut(Wire):
    state: CircuitState
    """Whether messages are sent through the integration now."""
    failures: int
    """How many sends failed in a row."""
    open_until: DateTimeText | UnsetType = UNSET
    """Until when nothing is sent through it; absent if the circuit is closed."""

    @classmethod
    def of(cls, circuit: Circuit, now: Millis) -> Self:
        if circuit.open_until is None:
            return cls(state=CircuitState.CLOSED, failures=circuit.failures)
        state = CircuitState.OPEN if circuit.is_open(now) else CircuitState.HALF_OPEN
        return cls(state=state, failures=circuit.failures, open_until=iso_text(circuit.open_until))


class RateOut(Wire):
    limit: float | UnsetType = UNSET
    """Messages per second; absent if the integration has no limit."""
    allowance: float | UnsetType = UNSET
    """Messages that may go now; below zero, how many wait for their turn. Absent without a limit."""
    wait_milliseconds: int
    """Until one more message may go: for the limit, or because the provider asked for a pause."""

    @classmethod
    def of(cls, bucket: TokenBucket, limit: float | None, now: Millis) -> Self:
        return cls(
            limit=given(limit),
            allowance=UNSET if limit is None else round(bucket.refill(limit, now).tokens, 3),
            wait_milliseconds=bucket.wait(limit, now),
        )


class CallErrorOut(Wire):
    """A call of the provider that failed."""

    at: DateTimeText
    """When the call failed."""
    message_id: str = field(name="_messageId")
    job_id: str = field(name="_jobId")
    notification_id: str = field(name="_notificationId")
    kind: FailureKind
    """Whether a retry may help, and whom the error is about."""
    message: str
    """The error, in the words of the provider if it gave any."""
    answer: Any = UNSET
    """The response of the provider, without secrets."""

    @classmethod
    def of(cls, error: CallError) -> Self:
        return cls(
            at=iso_text(error.at),
            message_id=id_text(error.message_id),
            job_id=id_text(error.job_id),
            notification_id=id_text(error.notification_id),
            kind=error.kind,
            message=error.message,
            answer=given(error.answer),
        )


class CallCountOut(Wire):
    """Calls of a provider: attempts, of which a message may have several."""

    sent: int
    """How many calls the provider accepted."""
    failed: int
    """How many calls failed."""
    average_milliseconds: int | UnsetType = UNSET
    """How long calls took on average; absent without calls."""
    slowest_milliseconds: int | UnsetType = UNSET
    """How long the slowest call took; absent without calls."""

    @classmethod
    def of(cls, count: CallCount) -> Self:
        has_calls = count.average is not None
        return cls(
            sent=count.sent,
            failed=count.failed,
            average_milliseconds=given(count.average),
            slowest_milliseconds=count.slowest if has_calls else UNSET,
        )


class IntegrationHealthOut(Wire):
    integration_id: str = field(name="_integrationId")
    circuit: CircuitOut
    rate: RateOut
    """The rate limit of the integration, and how much of it is used."""
    after: str
    """The beginning of the hour in which the counts begin."""
    before: str
    counts: CallCountOut
    last_errors: Annotated[list[CallErrorOut], Meta(max_length=20)]
    """The newest first, of whatever time; those of runs that are deleted are left out."""


class IntegrationStateOut(Wire):
    """The health of one of several integrations, in short."""

    integration_id: str = field(name="_integrationId")
    circuit: CircuitOut
    counts: CallCountOut


class UsageItemOut(CallCountOut):
    """What one provider of a channel sent in a bucket of time."""

    at: DateTimeText
    """The beginning of the bucket."""
    channel: Channel
    provider_id: str


class UsageOut(Wire):
    """Calls of providers by bucket, channel and provider, without empty buckets; in-app messages have no provider."""

    after: str
    before: str
    bucket: UsageBucket
    """Whether it is counted by hours or by days."""
    data: list[UsageItemOut]


def sum_counts(counts: Iterable[CallCount]) -> CallCount:
    total = CallCount()
    for one in counts:
        total.add(one)
    return total


def list_usage(buckets: dict[tuple[Millis, Channel, str], CallCount]) -> list[UsageItemOut]:
    return [
        UsageItemOut(at=iso_text(at), channel=channel, provider_id=provider_id, **_fields(count))
        for (at, channel, provider_id), count in sorted(buckets.items())
    ]


def _fields(count: CallCount) -> dict[str, Any]:
    shown = CallCountOut.of(count)
    return {name: getattr(shown, name) for name in shown.__struct_fields__}
