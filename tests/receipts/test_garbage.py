"""No request to a receipts URL causes a 500, and no unauthenticated one changes anything."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clarion.providers.definition.provider import HttpProvider
from clarion.providers.registry import PROVIDERS
from tests.fuzzing import EXAMPLES
from tests.providers.contract.table import CASES
from tests.receipts.signing import Address
from tests.support import Api

REPORTING = [
    case for case in CASES if isinstance(provider := PROVIDERS[case.id], HttpProvider) and provider.receipts is not None
]
HEADERS = (
    *("x-hub-signature-256", "x-twilio-signature", "signature", "authorization", "webhook-signature", "x-signature"),
    *("x-twilio-email-event-webhook-signature", "x-twilio-email-event-webhook-timestamp", "x-plivo-signature-v3"),
    *("svix-id", "svix-timestamp", "svix-signature", "telnyx-signature-ed25519", "telnyx-timestamp", "x-timestamp"),
    *("x-mandrill-signature", "messagebird-signature-jwt", "x-nonce", "content-type"),
)
texts = st.sampled_from(["", "\x00", "1e999", "NaN", "delivered", "a.b.c", "=", "é", "1767225600"]) | st.text(
    max_size=12
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def broken(report: bytes) -> st.SearchStrategy[bytes]:
    """A real report in which something is cut, repeated or replaced."""
    places = st.integers(0, len(report))
    return st.tuples(places, places, st.binary(max_size=6)).map(
        lambda cut: report[: cut[0]] + cut[2] + report[cut[1] :]
    )


def bodies(reports: list[bytes]) -> st.SearchStrategy[bytes]:
    documents = values.map(lambda value: json.dumps(value).encode())
    forms = st.dictionaries(texts, texts, max_size=4).map(lambda form: urlencode(form).encode())
    known = st.sampled_from(reports or [b"{}"])
    return documents | forms | st.binary(max_size=30) | known | known.flatmap(broken)


@settings(max_examples=EXAMPLES or 5, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.parametrize("case", REPORTING, ids=lambda case: case.id)
async def test_any_call_is_answered(api: Api, case: Any, data: st.DataObject) -> None:
    address = await make_case_address(api, case)
    body = data.draw(bodies([one.body for one in case.reports if one.body]))
    signed = data.draw(st.sampled_from([dict(one.headers) for one in case.reports] or [{}]))
    odd = data.draw(st.dictionaries(st.sampled_from(HEADERS), texts, max_size=3))
    query = data.draw(st.dictionaries(texts, texts, max_size=3))
    url = data.draw(st.sampled_from([address.url, address.path]))
    headers = [
        (name, value.encode("utf-8", "replace").replace(b"\x00", b"").strip()) for name, value in (signed | odd).items()
    ]
    joint = "&" if "?" in url else "?"

    response = await api.request(
        data.draw(st.sampled_from(["POST", "GET", "HEAD"])),
        f"{url}{joint}{urlencode(query)}",
        content=body,
        headers=headers,
    )

    assert response.status_code in (200, 400, 401, 403, 503), (body, headers, response.text)


@pytest.mark.parametrize("case", REPORTING, ids=lambda case: case.id)
async def test_depths_that_nobody_can_walk_are_refused(api: Api, case: Any) -> None:
    address = await make_case_address(api, case)
    deep = b'{"a":' * 2_000 + b"1" + b"}" * 2_000
    nested = json.dumps({"Type": "Notification", "Message": deep.decode()}).encode()

    answers = [(await api.post(address.url, content=one)).status_code for one in (deep, nested, b"[" * 100_000)]

    assert set(answers) <= {200, 400, 401}


async def make_case_address(api: Api, case: Any) -> Address:
    """The integration of a case, made once for each environment."""
    known = (await api.get("/v1/integrations")).json()
    found = [one["_id"] for one in known if one["providerId"] == case.id]
    if not found:
        body = {"providerId": case.id, "channel": case.channel, "credentials": dict(case.credentials), "active": True}
        made = await api.post("/v1/integrations", json=body)
        assert made.status_code == 201, made.text
        found = [made.json()["_id"]]
    url = (await api.get(f"/v1/integrations/{found[0]}/receipts-address")).json()["url"]
    return Address(api=api, integration_id=found[0], url=url)
