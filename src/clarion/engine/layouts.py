"""The layouts of e-mails: which one a step has, and in which version.

A run uses the version that was current when its trigger was accepted. That needs no record with the trigger, since ids
are ordered by time: it is the last version with an id before that of the trigger. What is not named is not loaded.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.content.layouts.model import PinnedLayout, find_layout_id
from clarion.content.layouts.store import list_versions_by_id
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.records import Run
from clarion.environments.configuration import Versioned, get_or_load
from clarion.ids import EnvironmentId, LayoutId, LayoutKey, LayoutVersionId
from clarion.triggers.model import Trigger
from clarion.vocabulary import Channel
from clarion.workflows.content import ContentProblem
from clarion.workflows.controls import EmailControls
from clarion.workflows.model import Step

_LAYOUT_ID = "layoutId"
_LAYOUT_IDENTIFIER = "layoutIdentifier"

LIST_INDEX = sql("""
    SELECT l.id, l.key, l.name, l.deleted_at, v.id AS version_id
    FROM layouts AS l JOIN layout_versions AS v ON v.environment_id = l.environment_id AND v.layout_id = l.id
    WHERE l.environment_id = :environment_id ORDER BY v.id
""")


class _IndexedLayout(Struct, kw_only=True):
    """A layout with the ids of its versions, oldest first; the bodies are loaded when they are needed."""

    id: LayoutId
    key: LayoutKey
    name: str
    deleted_at: Millis | None
    versions: list[LayoutVersionId] = []

    def pin(self, trigger: Trigger) -> LayoutVersionId:
        """The version that was current then; the first one if all are newer, because clocks differ."""
        return self.versions[max(bisect_left(self.versions, LayoutVersionId(trigger.id)) - 1, 0)]

    def existed_at(self, moment: Millis) -> bool:
        """Whether it was not deleted then; those that are made later count, too."""
        return self.deleted_at is None or self.deleted_at > moment


class _LayoutIndex(Struct, frozen=True):
    """The layouts of an environment, deleted ones too while runs may need them."""

    by_key: Mapping[LayoutKey, Sequence[_IndexedLayout]]
    by_id: Mapping[LayoutId, _IndexedLayout]

    def find(self, reference: str, trigger: Trigger) -> _IndexedLayout | None:
        """The layout that a reference named when the trigger was accepted: an identifier, `_id` or slug."""
        layouts = self.by_key.get(LayoutKey(reference), ())
        layout_id = None if layouts else find_layout_id(reference)
        if layout_id is not None and layout_id in self.by_id:
            layouts = [self.by_id[layout_id]]
        living = (layout for layout in layouts if layout.existed_at(trigger.created_at))
        # The oldest one: where another one has its identifier today, it was made later.
        return next(living, None)


_INDEXES: CacheSlot[EnvironmentId, Versioned[_LayoutIndex]] = CacheSlot(limit=10_000)


async def add_layouts(db: Connection, environment_id: EnvironmentId, version: int, runs: Sequence[Run]) -> None:
    """Give runs the layouts that their steps and triggers name, at this version of the configuration."""
    asking = [(run, names) for run in runs if (names := _list_names(run))]
    if not asking:
        return
    index = await get_or_load(db, _INDEXES, environment_id, version, _load_index)
    pinned = [
        (run, name, layout, layout.pin(run.trigger))
        for run, names in asking
        for name in names
        if (layout := index.find(name, run.trigger)) is not None
    ]
    versions = await list_versions_by_id(db, environment_id, [version_id for *_, version_id in pinned])
    for run, name, layout, version_id in pinned:
        # Retention may have deleted it since the index was loaded; then the run lacks it.
        if version_id in versions:
            shown = PinnedLayout(id=layout.id, key=layout.key, name=layout.name, version=versions[version_id])
            run.layouts = {**run.layouts, name: shown}


def choose_layout(run: Run, step: Step, controls: EmailControls) -> str | None:
    """Return the name of the layout that an e-mail step has, or None for no layout; raises ContentProblem.

    The first of the overrides that is there wins, also with null; without one it is what the step says.
    """
    for path, wanted in _list_overrides(run.trigger.overrides or {}, step):
        if wanted is not None and (not isinstance(wanted, str) or not wanted):
            raise ContentProblem(f"overrides.{path}", "must be the identifier of a layout, or null for none")
        return wanted
    return controls.layout_id or None


def _list_names(run: Run) -> frozenset[str]:
    """What the steps and the trigger of a run may mean by a layout."""
    names: frozenset[str] = run.version.layout_keys
    overrides = run.trigger.overrides
    if not overrides:
        return names
    wanted = (one for step in run.version.steps for _, one in _list_overrides(overrides, step))
    return names | frozenset(one for one in wanted if isinstance(one, str))


def _list_overrides(overrides: Mapping[str, Any], step: Step) -> Iterator[tuple[str, Any]]:
    """Yield where a trigger names the layout of a step, and what it says there, the strongest first."""
    if step.channel is not Channel.EMAIL:
        return
    steps = overrides.get("steps")
    for reference in (step.id, step.step_id):
        yield from _member(steps, reference, f"steps.{reference}", _LAYOUT_ID)
    yield from _member(overrides.get("channels"), Channel.EMAIL, f"channels.{Channel.EMAIL}", _LAYOUT_ID)
    if _LAYOUT_IDENTIFIER in overrides:
        yield _LAYOUT_IDENTIFIER, overrides[_LAYOUT_IDENTIFIER]
    yield from _member(overrides, Channel.EMAIL, Channel.EMAIL, _LAYOUT_IDENTIFIER)


def _member(layer: Any, inside: str, path: str, name: str) -> Iterator[tuple[str, Any]]:
    part = layer.get(inside) if isinstance(layer, dict) else None
    if isinstance(part, dict) and name in part:
        yield f"{path}.{name}", part[name]


async def _load_index(db: Connection, environment_id: EnvironmentId) -> _LayoutIndex:
    by_id: dict[LayoutId, _IndexedLayout] = {}
    for row in await db.fetch(LIST_INDEX, environment_id=environment_id):
        layout = by_id.get(row["id"])
        if layout is None:
            layout = _IndexedLayout(
                id=LayoutId(row["id"]), key=row["key"], name=row["name"], deleted_at=row["deleted_at"], versions=[]
            )
            by_id[layout.id] = layout
        layout.versions.append(LayoutVersionId(row["version_id"]))
    by_key: dict[LayoutKey, list[_IndexedLayout]] = {}
    for layout in by_id.values():
        by_key.setdefault(layout.key, []).append(layout)
    return _LayoutIndex(by_key, by_id)
