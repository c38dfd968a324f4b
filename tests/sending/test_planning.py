"""Weights: who comes first for how many messages."""

from collections import Counter

from clarion.clock import Millis
from clarion.ids import EnvironmentId, IntegrationId, MessageId, new_id
from clarion.integrations.model import DEFAULT_WEIGHT, Integration
from clarion.sending.planning import order_integrations
from clarion.vocabulary import Channel

NOW = Millis(1_767_225_600_000)
MESSAGES = [MessageId(number.to_bytes(16)) for number in range(4_000)]


def make_integration(
    name: str, *, weight: int = DEFAULT_WEIGHT, priority: int = 1, primary: bool = False
) -> Integration:
    return Integration(
        environment_id=EnvironmentId(bytes(16)),
        id=IntegrationId(name.encode().ljust(16)),
        provider_id="svc-email",
        channel=Channel.EMAIL,
        name=name,
        identifier=name,
        credentials={},
        conditions=[],
        active=True,
        is_primary=primary,
        priority=priority,
        weight=weight,
        created_at=NOW,
        updated_at=NOW,
    )


def firsts(*integrations: Integration) -> Counter[str]:
    return Counter(order_integrations(integrations, one)[0].identifier for one in MESSAGES)


def test_without_weights_the_primary_carries_everything_and_the_others_follow_by_priority() -> None:
    primary = make_integration("a", primary=True, priority=3)
    others = make_integration("c", priority=1), make_integration("b", priority=2)

    assert firsts(*others, primary) == {"a": len(MESSAGES)}
    assert [one.identifier for one in order_integrations([*others, primary], MESSAGES[0])] == ["a", "b", "c"]


def test_weights_share_the_messages_in_their_proportion() -> None:
    counts = firsts(make_integration("a", weight=70, primary=True), make_integration("b", weight=30))

    assert abs(counts["a"] / len(MESSAGES) - 0.7) < 0.03


def test_equal_weights_that_are_not_the_usual_one_share_by_halves() -> None:
    counts = firsts(make_integration("a", weight=50, primary=True), make_integration("b", weight=50))

    assert abs(counts["a"] - counts["b"]) < len(MESSAGES) * 0.06


def test_a_message_has_the_same_order_every_time_and_a_new_one_takes_only_its_own_share() -> None:
    two = [make_integration("a", weight=50), make_integration("b", weight=50)]
    three = [*two, make_integration("c", weight=10)]
    before = {one: order_integrations(two, one)[0].identifier for one in MESSAGES}
    after = {one: order_integrations(three[::-1], one)[0].identifier for one in MESSAGES}

    assert {after[one] for one in MESSAGES if after[one] != before[one]} == {"c"}


def test_ids_of_one_moment_are_shared_as_well() -> None:
    two = [make_integration("a", weight=50), make_integration("b", weight=50)]
    counts = Counter(order_integrations(two, MessageId(new_id(NOW)))[0].identifier for _ in range(2_000))

    assert min(counts.values()) > 800
