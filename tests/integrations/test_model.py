"""The primary, the failover order, and the validation of integrations."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.ids import EnvironmentId, IntegrationId
from clarion.integrations.model import (
    Integration,
    arrange,
    arrange_with,
    failover_key,
    find_problems,
    make_identifier,
    promote,
)
from clarion.providers.registry import find_provider
from clarion.vocabulary import Channel

CONDITION: dict[str, Any] = {"isNegated": False, "type": "GROUP", "value": "AND", "children": []}


def make_integration(number: int = 1, **fields: Any) -> Integration:
    values: dict[str, Any] = {
        "environment_id": EnvironmentId(bytes(16)),
        "id": IntegrationId(number.to_bytes(16)),
        "provider_id": "svc-email",
        "channel": Channel.EMAIL,
        "name": "Mail",
        "identifier": f"mail-{number}",
        "credentials": {},
        "conditions": [],
        "active": True,
        "is_primary": False,
        "priority": 0,
        "created_at": Millis(0),
        "updated_at": Millis(0),
    }
    return Integration(**values | fields)


def make_channel(*integrations: Integration) -> list[Integration]:
    """Integrations that became live one after the other."""
    live: list[Integration] = []
    for one in integrations:
        live = arrange([*live, one])
    return live


def places(integrations: list[Integration]) -> list[tuple[int, bool, int]]:
    """Number, primary and priority, in failover order."""
    ordered = sorted(integrations, key=failover_key)
    return [(int.from_bytes(one.id), one.is_primary, one.priority) for one in ordered]


def problems_of(integration: Integration, *others: Integration) -> set[str]:
    return set(find_problems(integration, find_provider(integration.provider_id), others))


def test_the_first_active_integration_is_primary_and_later_ones_queue_behind_it() -> None:
    live = make_channel(make_integration(1), make_integration(2), make_integration(3))

    assert places(live) == [(1, True, 3), (2, False, 2), (3, False, 1)]


def test_an_inactive_integration_has_no_place() -> None:
    live = make_channel(make_integration(1, active=False), make_integration(2))

    assert places(live) == [(2, True, 1), (1, False, 0)]


def test_an_integration_with_conditions_has_a_place_but_is_never_primary() -> None:
    live = make_channel(make_integration(1, conditions=[CONDITION]), make_integration(2))

    assert places(live) == [(2, True, 2), (1, False, 1)]


def test_a_primary_that_gets_conditions_hands_over_and_stays_next_in_line() -> None:
    live = make_channel(make_integration(1), make_integration(2), make_integration(3))

    after = arrange_with(replace(live[0], conditions=[CONDITION]), live)

    assert places(after) == [(2, True, 3), (1, False, 2), (3, False, 1)]


def test_when_the_primary_goes_the_one_of_highest_priority_follows() -> None:
    live = make_channel(*(make_integration(number) for number in (1, 2, 3)))
    reordered = promote(live[2], live)
    primary = next(one for one in reordered if one.is_primary)

    after = arrange_with(replace(primary, deleted_at=Millis(1)), reordered)

    assert places(after) == [(1, True, 2), (2, False, 1), (3, False, 0)]


def test_an_integration_that_is_activated_again_joins_at_the_end() -> None:
    live = make_channel(make_integration(1), make_integration(2))
    without = arrange_with(replace(live[0], active=False), live)
    first = next(one for one in without if not one.active)

    assert places(arrange_with(replace(first, active=True), without)) == [(2, True, 2), (1, False, 1)]


def test_promotion_activates_clears_conditions_and_leaves_the_others_in_their_order() -> None:
    live = make_channel(make_integration(1), make_integration(2), make_integration(3, active=False))

    after = promote(replace(live[2], conditions=[CONDITION]), live)

    assert places(after) == [(3, True, 3), (1, False, 2), (2, False, 1)]
    assert after[0].active
    assert after[0].conditions == []


def test_channels_without_a_primary_have_no_priorities() -> None:
    live = make_channel(make_integration(1, channel=Channel.PUSH), make_integration(2, channel=Channel.PUSH))

    assert places(live) == [(1, False, 0), (2, False, 0)]


def test_integrations_of_another_channel_are_left_alone() -> None:
    live = [make_integration(1), make_integration(2, channel=Channel.SMS)]

    assert [one.channel for one in arrange_with(live[0], live)] == [Channel.EMAIL]


STATES = some.lists(
    some.tuples(some.booleans(), some.booleans(), some.booleans(), some.integers(0, 5)), min_size=1, max_size=8
)


@given(STATES)
def test_whatever_was_there_arranging_gives_one_primary_and_an_order_without_ties(
    states: list[tuple[bool, bool, bool, int]],
) -> None:
    arranged = arrange(
        make_integration(
            number, active=active, conditions=[CONDITION] * conditioned, is_primary=primary, priority=priority
        )
        for number, (active, conditioned, primary, priority) in enumerate(states)
    )

    active = [one for one in arranged if one.active]
    can_be_primary = [one for one in active if not one.conditions]
    primaries = [one for one in arranged if one.is_primary]
    assert len(primaries) == min(1, len(can_be_primary))
    assert all(one in can_be_primary for one in primaries)
    assert sorted(one.priority for one in active) == list(range(1, len(active) + 1))
    assert all(one.priority == 0 for one in arranged if not one.active)
    assert not primaries or primaries[0].priority == len(active)
    assert sorted(arrange(arranged), key=failover_key) == sorted(arranged, key=failover_key)


def test_an_identifier_that_another_one_has_is_a_problem() -> None:
    assert problems_of(make_integration(1), make_integration(2, identifier="mail-1")) == {"identifier"}
    assert problems_of(make_integration(1), make_integration(2)) == set()


def test_a_second_in_app_integration_is_a_problem() -> None:
    first = make_integration(1, channel=Channel.IN_APP, provider_id="svc")
    second = make_integration(2, channel=Channel.IN_APP, provider_id="svc")

    assert problems_of(second, first) == {"channel"}
    assert problems_of(first) == set()


def test_every_problem_is_found_at_once() -> None:
    wrong = make_integration(1, provider_id="twilio", credentials={"from": "Acme"}, identifier="mail-2")

    assert problems_of(wrong, make_integration(2)) == {
        "identifier",
        "channel",
        "credentials.accountSid",
        "credentials.token",
    }


def test_credentials_of_an_inactive_integration_may_be_incomplete() -> None:
    assert problems_of(make_integration(1, provider_id="sendgrid", active=False)) == set()


def test_problems_of_credentials_do_not_repeat_them() -> None:
    wrong = make_integration(1, provider_id="nodemailer", credentials={"host": "s3cret host"})

    found = find_problems(wrong, find_provider("nodemailer"), [])

    assert {problem.value for path, problem in found.items() if path.startswith("credentials.")} == {None}


def test_made_identifiers_are_slugs_that_differ_and_fit() -> None:
    one, another = make_identifier("Mail, out!"), make_identifier("Mail, out!")

    assert one.startswith("mail-out-")
    assert one != another
    assert make_identifier("Ω").startswith("integration-")
    assert len(make_identifier("x" * 100)) <= 100
