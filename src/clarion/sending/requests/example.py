"""Made-up answers to HTTP steps, for simulations: nothing is called."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.jsontext import json_text
from clarion.providers.definition.result import ProviderAnswer
from clarion.sending.requests.call import receive
from clarion.sending.requests.model import ClaimedRequest
from clarion.workflows.schema_examples import make_answer_example


class GivenAnswer(Struct, frozen=True, kw_only=True):
    """What a server is taken to answer."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: Any = None


def answer_simulated(claimed: ClaimedRequest, given: GivenAnswer | None, now: Millis) -> None:
    """Go on as if the server had answered this, or what the schema of the step describes."""
    claimed.is_simulated = True
    if claimed.request is not None:
        answer = given or _make_example(claimed.step.controls.get("responseBodySchema"))
        receive(claimed, claimed.request, _make_answer(answer, now), now)


def _make_example(schema: Any) -> GivenAnswer:
    example = make_answer_example(schema)
    return GivenAnswer(status=example["status"], headers=example["headers"], body=example["body"])


def _make_answer(given: GivenAnswer, now: Millis) -> ProviderAnswer:
    return ProviderAnswer(
        status=given.status,
        text="" if given.body is None else given.body if isinstance(given.body, str) else json_text(given.body),
        headers={name.lower(): value for name, value in given.headers.items()},
        retry_after=None,
        received_at=now,
    )
