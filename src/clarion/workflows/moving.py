"""Runs that go on with another version than they started with: what they have done of one, and what follows in another.

A moved version begins with the steps of the first version up to one position, so that everything a run has done keeps
its number, and goes on with what follows in the second one.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import WorkflowVersionId, new_id
from clarion.workflows.model import MovedFrom, Step, StepPlace, WorkflowVersion
from clarion.workflows.store import VERSION_COLUMNS, insert_version, version_of
from clarion.workflows.tree import list_path_names, list_within

FIND_MOVED = sql(f"""
    SELECT {VERSION_COLUMNS} FROM workflow_versions
    WHERE environment_id = :environment_id AND workflow_id = :workflow_id AND number = :number
""")
LOCK_WORKFLOW = sql(
    "SELECT id FROM workflows WHERE environment_id = :environment_id AND id = :workflow_id {for_update}"
)


async def move_version(
    db: Connection, base: WorkflowVersion, onto: WorkflowVersion, position: int, now: Millis, *, keeps_step: bool
) -> WorkflowVersion | None:
    """Return the version of runs that go on with another one, as it is stored; None if their step is gone there."""
    steps = move_steps(base, onto, position, keeps_step=keeps_step)
    if steps is None:
        return None
    moved = MovedFrom(
        base_id=base.id,
        base_number=base.number if base.moved is None else base.moved.base_number,
        onto_id=onto.id,
        onto_number=onto.number,
        position=position,
        keeps_step=keeps_step,
    )
    scope = {"environment_id": base.environment_id, "workflow_id": base.workflow_id}
    number = _number_of(moved)
    row = await db.fetch_one(FIND_MOVED, **scope, number=number)
    if row is None:
        # Another worker may be making it; its lock ends with its transaction.
        await db.fetch(LOCK_WORKFLOW, **scope)
        row = await db.fetch_one(FIND_MOVED, **scope, number=number)
    if row is not None:
        found = version_of(row)
        return found if found.moved == moved else None
    version_id = WorkflowVersionId(new_id(now))
    made = replace(onto, id=version_id, number=number, steps=steps, created_at=now, moved=moved)
    await insert_version(db, made)
    return made


def _number_of(moved: MovedFrom) -> int:
    """A negative number, which is the same for the same parts; no version that is saved has one."""
    parts = moved.base_id + moved.onto_id + moved.position.to_bytes(4) + bytes([moved.keeps_step])
    return -1 - (int.from_bytes(blake2b(parts, digest_size=4).digest()) & 0x7FFFFFFE)


def move_steps(base: WorkflowVersion, onto: WorkflowVersion, position: int, *, keeps_step: bool) -> list[Step] | None:
    """Return the steps of a run that is at a position of one version, and goes on with another.

    The step is as in the second version if it is not kept, and None is returned if it is gone there. A step that is
    kept and gone is followed by the first of those behind it that are left.
    """
    step, same = base.steps[position], find_same(onto.steps, base.steps[position])
    if same is None and not keeps_step:
        return None
    before = base.steps[:position]
    if same is None:
        behind = (find_same(onto.steps, base.steps[one]) for one in list_rest(base.steps, position))
        first = next((one for one in behind if one is not None), None)
        rest = [] if first is None else [first, *list_rest(onto.steps, first)]
    else:
        step = step if keeps_step else replace(onto.steps[same], within=step.within)
        rest = list_rest(onto.steps, same)
    done = [*before, step]
    return [*done, *_list_following(onto.steps, rest, done)]


def find_next(base: WorkflowVersion, onto: WorkflowVersion, position: int) -> Step | None:
    """Return the step of the second version that follows for a run that is at a position of the first one."""
    steps = move_steps(base, onto, position, keeps_step=True) or []
    return next((steps[one] for one in list_next(steps, position) if steps[one].active), None)


def find_same(steps: Sequence[Step], wanted: Step) -> int | None:
    """Return the position of a step in another version; None if it is gone, switched off or of another type."""
    for position, step in enumerate(steps):
        if step.id == wanted.id:
            return position if step.active and step.type is wanted.type else None
    return None


def list_rest(steps: Sequence[Step], position: int) -> list[int]:
    """List the positions behind a step on its path, then behind the branches that it is within."""
    rest, place = list[int](), steps[position].within
    while True:
        rest += [one for one in range(position + 1, len(steps)) if steps[one].within == place]
        if place is None:
            return rest
        branch = next((one for one in range(position) if steps[one].step_id == place.branch), None)
        if branch is None:
            return rest
        position, place = branch, steps[branch].within


def list_next(steps: Sequence[Step], position: int) -> Iterator[int]:
    """Yield the positions behind the last step of the first version that a run comes to without another branch."""
    behind = {step.step_id for step in steps[position + 1 :]}
    for number in range(position + 1, len(steps)):
        within = steps[number].within
        if within is None or within.branch not in behind:
            yield number


def _list_following(steps: Sequence[Step], rest: Sequence[int], done: Sequence[Step]) -> Iterator[Step]:
    """Yield what follows, with what is within it; a step that was done, or passed, is not done again."""
    ids = {step.id for step in done}
    for position in rest:
        step = steps[position]
        if step.id in ids:
            continue
        yield replace(step, within=_find_place(step.within, done))
        yield from (one for one in list_within(steps, step) if one.id not in ids)


def _find_place(place: StepPlace | None, done: Sequence[Step]) -> StepPlace | None:
    """Return the place of a step that follows, as far as the branch with that path is among the steps before."""
    if place is None:
        return None
    branch = next((step for step in done if step.step_id == place.branch), None)
    return place if branch is not None and place.path in list_path_names(branch) else None
