"""Reply callbacks and HTTP steps: who may set their URLs, and to which hosts."""

from collections.abc import Sequence

from clarion.errors import Forbidden, Invalid
from clarion.http.caller import Caller
from clarion.ids import EnvironmentId
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Scope, StepType
from clarion.workflows.flatten import flatten_steps
from clarion.workflows.model import ReplyCallback, Step
from clarion.workflows.step_wire import StepIn
from clarion.workflows.tree import list_body_paths


def check_callback_rights(
    caller: Caller, environment_id: EnvironmentId, before: Sequence[Step], after: Sequence[Step]
) -> None:
    """Raise Forbidden if a step gets a URL that it did not have: payloads go to it, as events to a webhook.

    What a step has may be written back, switched off, or left out.
    """
    if caller.has_scope_in(environment_id, Scope.WEBHOOKS_WRITE):
        return
    known = {step.id: step for step in before}
    for path, step in zip(list_body_paths(after), after, strict=True):
        where = _find_new_url(step, known.get(step.id))
        if where is not None:
            raise Forbidden(
                f"{caller.title} lacks {Scope.WEBHOOKS_WRITE} in this environment, which {path}.{where} "
                "needs: leave it as it is in the workflow, or out of a new step",
                ctx={"missingScopes": [Scope.WEBHOOKS_WRITE]},
            )


async def check_callback_urls(gateway: ProviderGateway, steps: Sequence[StepIn]) -> None:
    """Raise Invalid if a callback has a host that can never be called; one from a payload is checked when it is."""
    for placed in flatten_steps(steps).placed:
        callback = placed.step.reply_callback
        url = "" if callback is None else callback.url
        await _check_url(gateway, f"{placed.where}.replyCallback.url", url)
        if placed.step.step_type is StepType.HTTP_REQUEST:
            called = (placed.step.control_values or {}).get("url") or ""
            await _check_url(gateway, f"{placed.where}.controlValues.url", called)


async def _check_url(gateway: ProviderGateway, path: str, url: str) -> None:
    literal = url.partition("{")[0]
    # Where a variable is part of the host, the host is not known before the call.
    if not literal.partition("://")[2]:
        return
    try:
        await gateway.check_url(literal)
    except SendFailure as failure:
        raise Invalid.field(path, f"cannot be sent to: {failure.message}", url) from None


def _find_new_url(step: Step, known: Step | None) -> str | None:
    """Return where a step has a URL that it did not have before."""
    if _is_new(step.reply_callback, None if known is None else known.reply_callback):
        return "replyCallback"
    url = step.controls.get("url") if step.type is StepType.HTTP_REQUEST else None
    before = known.controls.get("url") if known is not None and known.type is StepType.HTTP_REQUEST else None
    return "controlValues.url" if url and url != before else None


def _is_new(callback: ReplyCallback | None, known: ReplyCallback | None) -> bool:
    if callback is None or callback == known:
        return False
    return callback.active or callback.url not in ("", "" if known is None else known.url)
