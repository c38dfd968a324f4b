"""Reply callbacks of steps: who may set them."""

from collections.abc import Sequence

from clarion.errors import Forbidden
from clarion.http.caller import Caller
from clarion.ids import EnvironmentId
from clarion.vocabulary import Scope
from clarion.workflows.model import ReplyCallback, Step


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


def _is_new(callback: ReplyCallback | None, known: ReplyCallback | None) -> bool:
    if callback is None or callback == known:
        return False
    return callback.active or callback.url not in ("", "" if known is None else known.url)
