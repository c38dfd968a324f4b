"""Reply callbacks of steps: who may set them, and to which hosts."""

from collections.abc import Sequence

from clarion.errors import Forbidden, Invalid
from clarion.http.caller import Caller
from clarion.ids import EnvironmentId
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Scope
from clarion.workflows.flatten import flatten_steps
from clarion.workflows.model import ReplyCallback, Step
from clarion.workflows.step_wire import StepIn
from clarion.workflows.tree import list_body_paths


def check_callback_rights(
    caller: Caller, environment_id: EnvironmentId, before: Sequence[Step], after: Sequence[Step]
) -> None:
    """Raise Forbidden if a step gets a callback that it did not have: payloads go to its URL, as events to a webhook.

    What a step has may be written back, switched off, or left out.
    """
    if caller.has_scope_in(environment_id, Scope.WEBHOOKS_WRITE):
        return
    known = {step.id: step.reply_callback for step in before}
    for path, step in zip(list_body_paths(after), after, strict=True):
        if _is_new(step.reply_callback, known.get(step.id)):
            raise Forbidden(
                f"{caller.title} lacks {Scope.WEBHOOKS_WRITE} in this environment, which {path}.replyCallback "
                "needs: leave it as it is in the workflow, or out of a new step",
                ctx={"missingScopes": [Scope.WEBHOOKS_WRITE]},
            )


async def check_callback_urls(gateway: ProviderGateway, steps: Sequence[StepIn]) -> None:
    """Raise Invalid if a callback has a host that can never be called; one from a payload is checked when it is."""
    for placed in flatten_steps(steps).placed:
        callback = placed.step.reply_callback
        url = "" if callback is None else callback.url
        literal = url.partition("{")[0]
        if not literal:
            continue
        try:
            await gateway.check_url(literal)
        except SendFailure as failure:
            message = f"cannot be sent to: {failure.message}"
            raise Invalid.field(f"{placed.where}.replyCallback.url", message, url) from None


def _is_new(callback: ReplyCallback | None, known: ReplyCallback | None) -> bool:
    if callback is None or callback == known:
        return False
    return callback.active or callback.url not in ("", "" if known is None else known.url)
