"""Promotions in the audit log of the environment that they change."""

from collections.abc import Sequence

from clarion.audit.model import Action, Author, Change
from clarion.audit.recording import record_change
from clarion.db.port import Connection
from clarion.environments.auditing import target_of
from clarion.environments.model import Environment
from clarion.environments.promotion.actions import Promoted
from clarion.environments.promotion.context import PromotionContext
from clarion.ids import id_text


async def record_promotion(
    db: Connection,
    source: Environment,
    target: Environment,
    promoted: Sequence[Promoted],
    *,
    author: Author,
    context: PromotionContext,
) -> None:
    """Record what was promoted, unless that is nothing."""
    resources = [
        {"type": one.diff.type, "identifier": resource.identifier, "action": one.diff.action}
        for one in promoted
        if one.reason is None and (resource := one.diff.source or one.diff.target) is not None
    ]
    if not resources:
        return
    after = {"from": {"_id": id_text(source.id), "name": source.name}, "resources": resources}
    change = Change(action=Action.ENVIRONMENT_PROMOTE, target=target_of(target), after=after)
    await record_change(db, target.id, change, author, context.now)
