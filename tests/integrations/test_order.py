"""One integration by its id, and the failover order of a channel in one call."""

from typing import Any

import pytest

from clarion.vocabulary import Scope
from tests.integrations.support import (
    CONDITION,
    PATH,
    SENDGRID,
    TWILIO,
    find_in_app,
    list_places,
    make_integration,
)
from tests.integrations.test_secrets import MASK
from tests.support import Api, MakeApi

ORDER = f"{PATH}/order"


async def order(api: Api, *ids: str, channel: str = "email") -> tuple[int, Any]:
    answer = await api.put(ORDER, json={"channel": channel, "integrationIds": list(ids)})
    return answer.status_code, answer.json()


async def make_three(api: Api) -> list[str]:
    return [(await make_integration(api, identifier=name))["_id"] for name in "abc"]


async def test_an_integration_is_found_by_its_id(api: Api, make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.INTEGRATIONS_READ}))
    made = await make_integration(api)

    whole, masked = await api.get(f"{PATH}/{made['_id']}"), await reader.get(f"{PATH}/{made['_id']}")

    assert (whole.status_code, whole.json()) == (200, made)
    assert masked.json() == made | {"credentials": SENDGRID | {"apiKey": MASK}}


async def test_deleted_and_foreign_integrations_are_not_found(api: Api, other_api: Api) -> None:
    made, foreign = await make_integration(api), await make_integration(other_api)
    await api.delete(f"{PATH}/{made['_id']}")

    for path in (made["_id"], foreign["_id"], "x"):
        assert (await api.get(f"{PATH}/{path}")).status_code == 404
        assert (await api.get(f"{PATH}/{path}/health")).status_code == 404


async def test_the_order_of_a_channel_is_set_in_one_call(api: Api) -> None:
    a, b, c = await make_three(api)
    inactive = await make_integration(api, identifier="off", active=False)
    other = await make_integration(api, identifier="sms", providerId="twilio", channel="sms", credentials=TWILIO)

    status, answer = await order(api, c, a, b)

    assert status == 200
    assert [one["identifier"] for one in answer] == ["c", "a", "b", "off"]
    assert await list_places(api) == {"a": (False, 2), "b": (False, 1), "c": (True, 3), "off": (False, 0)}
    assert (await api.get(f"{PATH}/{inactive['_id']}")).json() == inactive
    assert (await api.get(f"{PATH}/{other['_id']}")).json() == other


async def test_the_same_order_again_changes_nothing(api: Api) -> None:
    ids = await make_three(api)
    before = (await api.get(PATH)).json()

    await order(api, *ids)

    assert (await api.get(PATH)).json() == before


async def test_an_integration_with_conditions_cannot_be_first_while_another_has_none(api: Api) -> None:
    a, b, c = await make_three(api)
    await api.put(f"{PATH}/{c}", json={"conditions": [CONDITION]})

    status, answer = await order(api, c, a, b)

    assert (status, set(answer["errors"])) == (422, {"integrationIds.0"})
    assert (await order(api, a, c, b))[0] == 200


@pytest.mark.parametrize("channel", ["push", "in_app"])
async def test_only_email_and_sms_have_an_order(api: Api, channel: str) -> None:
    status, answer = await order(api, (await find_in_app(api))["_id"], channel=channel)

    assert (status, set(answer["errors"])) == (422, {"channel"})


async def test_an_order_names_each_active_integration_once(api: Api, other_api: Api) -> None:
    a, b, c = await make_three(api)
    foreign = await make_integration(other_api)
    wrong = {
        "integrationIds": (a, b),
        "integrationIds.1": (a, a, b, c),
        "integrationIds.3": (a, b, c, foreign["_id"]),
    }

    for field, ids in wrong.items():
        status, answer = await order(api, *ids)
        assert (status, set(answer["errors"])) == (422, {field})
    assert c in (await order(api, a, b))[1]["errors"]["integrationIds"]["messages"][0]
