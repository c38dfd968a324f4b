"""The primary integration after each change, on both databases."""

import asyncio

import pytest

from clarion.clock import ManualClock
from tests.integrations.support import (
    CONDITION,
    PATH,
    SENDGRID,
    TWILIO,
    find_in_app,
    list_integrations,
    list_places,
    make_integration,
)
from tests.support import Api


async def test_the_first_active_integration_of_email_and_of_sms_is_primary(api: Api) -> None:
    await make_integration(api, identifier="draft", active=False)
    await make_integration(api, identifier="conditioned", conditions=[CONDITION])
    await make_integration(api, identifier="first")
    await make_integration(api, identifier="second")
    await make_integration(api, identifier="text", providerId="twilio", channel="sms", credentials=TWILIO)

    assert await list_places(api) == {
        "draft": (False, 0),
        "conditioned": (False, 2),
        "first": (True, 3),
        "second": (False, 1),
    }
    assert await list_places(api, "sms") == {"text": (True, 1)}


async def test_the_answer_of_creation_tells_that_it_is_primary(api: Api) -> None:
    made = await make_integration(api)

    assert (made["primary"], made["priority"]) == (True, 1)


async def test_deletion_of_the_primary_elects_the_next(api: Api) -> None:
    first = await make_integration(api, identifier="first")
    await make_integration(api, identifier="conditioned", conditions=[CONDITION])
    await make_integration(api, identifier="inactive", active=False)
    await make_integration(api, identifier="next")
    await make_integration(api, identifier="last")

    left = (await api.delete(f"{PATH}/{first['_id']}")).json()

    expected = {"conditioned": (False, 2), "inactive": (False, 0), "next": (True, 3), "last": (False, 1)}
    assert await list_places(api) == expected
    assert [one["identifier"] for one in left if one["primary"]] == ["next"]


@pytest.mark.parametrize("change", [{"active": False}, {"conditions": [CONDITION]}])
async def test_a_primary_that_no_longer_can_be_hands_over(api: Api, change: dict[str, object]) -> None:
    first = await make_integration(api, identifier="first")
    await make_integration(api, identifier="second")

    after = await api.put(f"{PATH}/{first['_id']}", json=change)

    assert after.json()["primary"] is False
    assert (await list_places(api))["second"] == (True, 2 if "conditions" in change else 1)


async def test_without_another_candidate_nobody_is_primary_until_one_can_be(api: Api) -> None:
    only = await make_integration(api, identifier="only")

    await api.put(f"{PATH}/{only['_id']}", json={"conditions": [CONDITION]})
    nobody = await list_places(api)
    await api.put(f"{PATH}/{only['_id']}", json={"conditions": []})

    assert nobody == {"only": (False, 1)}
    assert await list_places(api) == {"only": (True, 1)}


async def test_activation_takes_no_primary_away(api: Api) -> None:
    first = await make_integration(api, identifier="first")
    await make_integration(api, identifier="second")

    await api.put(f"{PATH}/{first['_id']}", json={"active": False})
    await api.put(f"{PATH}/{first['_id']}", json={"active": True})

    assert await list_places(api) == {"second": (True, 2), "first": (False, 1)}


async def test_setting_the_primary_activates_it_and_clears_its_conditions(api: Api, clock: ManualClock) -> None:
    await make_integration(api, identifier="first")
    await make_integration(api, identifier="second")
    chosen = await make_integration(api, identifier="chosen", active=False, conditions=[CONDITION])
    clock.move(1000)

    answer = await api.post(f"{PATH}/{chosen['_id']}/set-primary", json={})

    changes = {"active": True, "conditions": [], "primary": True, "priority": 3}
    assert answer.status_code == 200
    assert answer.json() == chosen | changes | {"updatedAt": "2026-01-01T00:00:01.000Z"}
    assert await list_places(api) == {"chosen": (True, 3), "first": (False, 2), "second": (False, 1)}


async def test_setting_the_primary_again_changes_nothing(api: Api, clock: ManualClock) -> None:
    made = await make_integration(api)
    clock.move(1000)

    answer = await api.post(f"{PATH}/{made['_id']}/set-primary")

    assert (answer.status_code, answer.json()) == (200, made)


async def test_only_an_integration_with_its_credentials_can_be_set_primary(api: Api) -> None:
    first = await make_integration(api)
    incomplete = await make_integration(api, active=False, credentials={"apiKey": "SG.s3cret"})

    answer = await api.post(f"{PATH}/{incomplete['_id']}/set-primary")

    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"credentials.from"}
    assert [one["_id"] for one in await list_integrations(api) if one["primary"]] == [first["_id"]]


async def test_channels_without_a_primary_refuse_to_set_one(api: Api) -> None:
    inbox = await find_in_app(api)
    chat = await make_integration(api, providerId="discord", channel="chat", credentials={})

    for one in (inbox, chat):
        answer = await api.post(f"{PATH}/{one['_id']}/set-primary")
        assert answer.status_code == 422
        assert set(answer.json()["errors"]) == {"channel"}
    assert await list_places(api, "chat") == {chat["identifier"]: (False, 0)}


async def test_of_concurrent_creations_exactly_one_becomes_primary(api: Api) -> None:
    await asyncio.gather(*(make_integration(api) for _ in range(20)))

    places = (await list_places(api)).values()
    assert sorted(priority for _, priority in places) == list(range(1, 21))
    assert [priority for primary, priority in places if primary] == [20]


async def test_concurrent_changes_of_who_is_primary_leave_exactly_one(api: Api) -> None:
    made = [await make_integration(api) for _ in range(6)]
    promotions = [api.post(f"{PATH}/{one['_id']}/set-primary") for one in made]
    replacements = [api.put(f"{PATH}/{one['_id']}", json={"credentials": SENDGRID, "active": True}) for one in made]
    deletions = [api.delete(f"{PATH}/{one['_id']}") for one in made[:2]]

    answers = await asyncio.gather(*promotions, *replacements, *deletions)

    places = (await list_places(api)).values()
    assert {one.status_code for one in answers} <= {200, 404}
    assert sorted(priority for _, priority in places) == [1, 2, 3, 4]
    assert [priority for primary, priority in places if primary] == [4]
