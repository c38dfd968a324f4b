"""Reply callbacks of steps: who may set them, and to which hosts."""

from collections.abc import Sequence

from clarion.errors import Forbidden, Invalid
from clarion.http.caller import Caller
from clarion.ids import EnvironmentId
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Scope
from clarion.workflows.model import ReplyCallback, Step
from clarion.workflows.step_wire import StepIn


def check_callback_rights(
    caller: Caller, environment_id: EnvironmentId, before: Sequence[Step], after: Sequence[Step]
) -> None:
    """Raise Forbidden if a step gets a callback that it did not have: payloads go to its URL, as events to a webhook.

    What a step has may be written back, switched off, or left out.
    """
    if caller.has_scope_in(environment_id, Scope.WEBHOOKS_WRITE):
        return
    known = {step.id: step.reply_callback for step in before}
    for number, step in enumerate(after):
        if _is_new(step.reply_callback, known.get(step.id)):
            raise Forbidden(
                f"{caller.title} lacks {Scope.WEBHOOKS_WRITE} in this environment, which steps.{number}.replyCallback "
                "needs: leave it as it is in the workflow, or out of a new step",
                ctx={"missingScopes": [Scope.WEBHOOKS_WRITE]},
            )


async def check_callback_urls(gateway: ProviderGateway, steps: Sequence[StepIn]) -> None:
    """Raise Invalid if a callback has a host that can never be called; one from a payload is checked when it is."""
    for number, step in enumerate(steps):
        url = "" if step.reply_callback is None else step.reply_callback.url
        literal = url.partition("{")[0]
        if not literal:
            continue
        try:
            await gateway.check_url(literal)
        except SendFailure as failure:
            message = f"cannot be sent to: {failure.message}"
            raise Invalid.field(f"steps.{number}.replyCallback.url", message, url) from None


def _is_new(callback: ReplyCallback | None, known: ReplyCallback | None) -> bool:
    if callback is None or callback == known:
        return False
    return callback.active or callback.url not in ("", "" if known is None else known.url)
