"""Which steps of workflows name a layout: named by its identifier when they are saved, and no more when it is gone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.content.layouts.model import Layout, PreviewedLayout, find_layout_id
from clarion.content.layouts.store import find_layout, list_layouts
from clarion.content.layouts.store import list_versions_by_id as list_layout_versions
from clarion.content.translations.groups import ResourceType, Translated
from clarion.content.translations.known import find_texts
from clarion.db.port import Connection
from clarion.errors import Invalid, Problem
from clarion.ids import EnvironmentId, LayoutKey
from clarion.vocabulary import StepType
from clarion.workflows.model import Step, VersionedWorkflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows

UNKNOWN_LAYOUT = "is no layout of this environment; create it, name another one, or send null for none"


async def name_layouts(db: Connection, environment_id: EnvironmentId, steps: Sequence[Step]) -> list[Step]:
    """Return the steps with the identifiers of their layouts, which can be named by `_id` and slug too.

    Raises Invalid for layouts that do not exist.
    """
    named = list(_list_names(steps))
    if not named:
        return list(steps)
    layouts = Layouts(await list_layouts(db, environment_id))
    unknown = {path: [Problem(UNKNOWN_LAYOUT, name)] for path, name in named if layouts.find(name) is None}
    if unknown:
        raise Invalid(unknown)
    return [_rename(step, layouts.name) for step in steps]


async def check_layouts(db: Connection, version: WorkflowVersion) -> None:
    """Raise Invalid if a past version names a layout that has been deleted since."""
    if not version.layout_keys:
        return
    known = {layout.key for layout in await list_layouts(db, version.environment_id)}
    gone = sorted(version.layout_keys - known)
    if gone:
        message = f"names the layout '{gone[0]}', which does not exist any more; create it first (POST /v2/layouts)"
        raise Invalid.field("versionId", message)


async def find_previewed_layout(
    db: Connection, environment_id: EnvironmentId, step_type: StepType, controls: Mapping[str, Any], locale: object
) -> PreviewedLayout | None:
    """Return the layout that the controls of a step name, if it has a body; raises Invalid if it does not exist."""
    name = controls.get("layoutId") if step_type is StepType.EMAIL else None
    if not name or not isinstance(name, str):
        return None
    layout = await find_layout(db, environment_id, name)
    if layout is None:
        raise Invalid.field("controlValues.layoutId", UNKNOWN_LAYOUT, name)
    version = (await list_layout_versions(db, environment_id, [layout.version_id]))[layout.version_id]
    if version.source is None:
        return None
    owner = Translated(environment_id, ResourceType.LAYOUT, layout.id)
    texts = await find_texts(db, owner, locale) if version.refers_to_texts else None
    return PreviewedLayout(source=version.source, texts=texts)


class Layouts:
    """Layouts by all their names: identifier, `_id` and slug."""

    def __init__(self, layouts: Iterable[Layout]) -> None:
        self._by_key = {layout.key: layout for layout in layouts}
        self._by_id = {layout.id: layout for layout in self._by_key.values()}

    def find(self, reference: str) -> Layout | None:
        layout = self._by_key.get(LayoutKey(reference))
        layout_id = find_layout_id(reference) if layout is None else None
        return layout if layout_id is None else self._by_id.get(layout_id)

    def name(self, reference: str) -> str | None:
        layout = self.find(reference)
        return None if layout is None else layout.key


def without_layout(steps: Iterable[Step], key: LayoutKey) -> list[Step]:
    """The steps, of which none names the layout."""
    return [_rename(step, lambda name: None if name == key else name) for step in steps]


async def list_users(db: Connection, environment_id: EnvironmentId, key: LayoutKey) -> list[VersionedWorkflow]:
    """List the workflows with a step that names the layout, oldest first."""
    workflows = await list_workflows(db, environment_id)
    versions = await list_versions_by_id(db, environment_id, [workflow.version_id for workflow in workflows])
    return [
        VersionedWorkflow(workflow, versions[workflow.version_id])
        for workflow in workflows
        if key in versions[workflow.version_id].layout_keys
    ]


def _list_names(steps: Iterable[Step]) -> Iterator[tuple[str, str]]:
    """Yield the path in the body and the layout of each part that names one."""
    for number, step in enumerate(steps):
        if step.type is not StepType.EMAIL:
            continue
        for prefix, controls in _list_parts(step):
            name = controls.get("layoutId")
            if name:
                yield f"steps.{number}.{prefix}controlValues.layoutId", name


def _list_parts(step: Step) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "", step.controls
    for number, variant in enumerate(step.variants):
        yield f"variants.{number}.", variant.controls


def _rename(step: Step, rename: Callable[[str], str | None]) -> Step:
    if step.type is not StepType.EMAIL:
        return step
    return replace(
        step,
        controls=_rename_in(step.controls, rename),
        variants=[replace(variant, controls=_rename_in(variant.controls, rename)) for variant in step.variants],
    )


def _rename_in(controls: dict[str, Any], rename: Callable[[str], str | None]) -> dict[str, Any]:
    name = controls.get("layoutId")
    return controls | {"layoutId": rename(name)} if name else controls
