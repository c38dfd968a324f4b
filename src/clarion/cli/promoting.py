"""`clarion promote`: shows what differs between two environments, and copies it."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from clarion.cli.installation import Installation, command_line_author, get_environment, print_line, with_installation
from clarion.clock import SystemClock
from clarion.db.port import Connection
from clarion.environments.bootstrap import check_vault
from clarion.environments.promotion.actions import Promoted, Promotion, Selected, promote, record_promotion
from clarion.environments.promotion.model import PromotedType, PromotionContext, ResourceDiff
from clarion.errors import SettingsError
from clarion.jsontext import json_text
from clarion.providers.builtin import BuiltinNames
from clarion.vault import open_configured_vault
from clarion.vocabulary import count_text
from clarion.workflows.differences import ComparedPart, DiffAction, Difference

_SIGNS = {
    DiffAction.ADDED: "+",
    DiffAction.MODIFIED: "~",
    DiffAction.DELETED: "-",
    DiffAction.MOVED: ">",
    DiffAction.UNCHANGED: "=",
}
_MAX_VALUE = 100


@with_installation
def promote_environment(  # noqa: PLR0913 - the options of a command
    installation: Installation,
    *,
    source: Annotated[str, typer.Option("--from", help="The environment to copy from.", metavar="NAME")],
    target: Annotated[str, typer.Option("--to", help="The environment to copy to.", metavar="NAME")],
    workflow: Annotated[
        list[str] | None, typer.Option(help="Only this workflow; repeatable.", metavar="WORKFLOW_ID")
    ] = None,
    integration: Annotated[
        list[str] | None, typer.Option(help="Only this integration; repeatable.", metavar="IDENTIFIER")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Delete workflows that the source does not have.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only show it.")] = False,
) -> None:
    """Show what differs between two environments; with --apply, copy workflows, and integrations without secrets."""
    only = [Selected(PromotedType.WORKFLOW, one) for one in workflow or ()]
    only += [Selected(PromotedType.INTEGRATION, one) for one in integration or ()]
    _run(installation, (source, target), only, prune=prune, apply=apply)


def _run(
    installation: Installation, names: tuple[str, str], only: Sequence[Selected], *, prune: bool, apply: bool
) -> None:
    """Print what differs, and with `apply` make the target like the source."""
    settings = installation.settings
    vault = open_configured_vault(settings)
    author = command_line_author()
    context = PromotionContext(
        vault=vault, names=BuiltinNames(settings.builtin_name), now=SystemClock().now(), actor=author.actor
    )

    async def work(db: Connection) -> list[Promoted]:
        await check_vault(db, settings, vault)
        source, target = [await get_environment(db, name) for name in names]
        if source.id == target.id or source.organization_id != target.organization_id:
            raise SettingsError("Promotion needs two different environments of one organization.")
        promotion = Promotion(source_id=source.id, target_id=target.id, only=only or None, prune=prune)
        promoted = await promote(db, promotion, context, dry_run=not apply)
        if apply:
            await record_promotion(db, source, target, promoted, author=author, context=context)
        return promoted

    promoted = installation.run(work)
    for line in _lines(promoted):
        print_line(line)
    count = sum(one.reason is None for one in promoted)
    resources = count_text(count, "resource", "resources")
    done = f"Promoted {resources}." if apply else f"{resources} would be promoted; do it with --apply."
    print_line(done if count else "There is nothing to promote.")


def _lines(promoted: Sequence[Promoted]) -> Iterator[str]:
    for resource in promoted:
        if resource.diff.action is DiffAction.UNCHANGED and resource.diff.problem is None:
            continue
        shown = resource.diff.shown
        note = "" if resource.reason is None else f"  (left out: {resource.reason})"
        yield f"{_SIGNS[resource.diff.action]} {resource.diff.type} {shown.identifier}{note}"
        if resource.diff.action is DiffAction.MODIFIED:
            yield from _change_lines(resource.diff)


def _change_lines(diff: ResourceDiff) -> Iterator[str]:
    for change in diff.changes:
        indent = "    "
        part = change.shown
        if isinstance(part, ComparedPart):
            yield f"    {_SIGNS[change.action]} step {part.identifier}"
            indent = "        "
        if change.action is DiffAction.MODIFIED:
            yield from (f"{indent}{line}" for line in _field_lines(change))


def _field_lines(change: Difference) -> Iterator[str]:
    before, after = change.before or {}, change.after or {}
    for name in sorted(before.keys() | after.keys()):
        yield f"{name}: {_value(before.get(name))} → {_value(after.get(name))}"


def _value(value: object) -> str:
    text = json_text(value)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"
