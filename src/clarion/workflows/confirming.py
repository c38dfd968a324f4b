"""Tokens of changes of a workflow that somebody has looked at: they are for exactly these steps, on top of one version.

Members who save an active workflow of Production need one, since people get what they save. API keys do not: what they
save was looked at elsewhere.
"""

from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from clarion.clock import MINUTE, Millis
from clarion.environments.store import list_environments
from clarion.errors import Invalid
from clarion.http.operation import Call
from clarion.jsontext import encode_json, plain_value
from clarion.vault import Vault
from clarion.workflows.model import Step, VersionedWorkflow

VALID_FOR: Final = Millis(15 * MINUTE)
_FIELD: Final = "confirmToken"


def make_confirm_token(vault: Vault, current: VersionedWorkflow, steps: Sequence[Step], expires_at: Millis) -> str:
    """Return the token of a change that is valid until then."""
    return f"{expires_at}.{vault.tokens(context=_describe(current, steps, expires_at))[0]}"


async def check_confirmed(call: Call, current: VersionedWorkflow, steps: Sequence[Step], token: str | None) -> None:
    """Raise Invalid if a change needs a token and has none, or has one that is not for it."""
    if token is not None:
        if problem := _find_problem(call, current, steps, token):
            raise Invalid.field(_FIELD, problem, token)
    elif await _needs_token(call, current, steps):
        way_out = "`POST /v1/workflows/{workflowId}/impact` with the same steps shows what it means, and has the token"
        raise Invalid.field(_FIELD, f"is needed to change an active workflow of Production: {way_out}")


def _find_problem(call: Call, current: VersionedWorkflow, steps: Sequence[Step], token: str) -> str | None:
    moment, _, own = token.partition(".")
    if not (moment.isascii() and moment.isdigit() and len(moment) < 16 and own.isascii()):
        return "is not one that was made here"
    expires_at = Millis(int(moment))
    if expires_at <= call.now:
        return "was valid for 15 minutes; look at the impact of the change again"
    tokens = call.services.vault.tokens(context=_describe(current, steps, expires_at))
    if any(compare_digest(own, one) for one in tokens):
        return None
    return "is for other steps, or the workflow has changed since; look at the impact of the change again"


async def _needs_token(call: Call, current: VersionedWorkflow, steps: Sequence[Step]) -> bool:
    if call.caller.member is None or not current.workflow.active:
        return False
    if _content_of(current.version.steps, current) == _content_of(steps, current):
        return False
    environments = await list_environments(call.db, call.caller.organization_id)
    return any(one.id == call.environment_id and not one.is_development for one in environments)


def _describe(current: VersionedWorkflow, steps: Sequence[Step], expires_at: Millis) -> bytes:
    workflow, version = current
    own = b"impact" + workflow.environment_id + workflow.id + version.id + expires_at.to_bytes(8)
    return own + sha256(_content_of(steps, current)).digest()


def _content_of(steps: Sequence[Step], current: VersionedWorkflow) -> bytes:
    """The steps without the ids that new ones get when they are built."""
    known = {step.id for step in current.version.steps}
    content = []
    for step in steps:
        fields = plain_value(step)
        variants = [{name: value for name, value in one.items() if name != "id"} for one in fields["variants"]]
        content.append({**fields, "id": step.id if step.id in known else None, "variants": variants})
    return encode_json(content)
