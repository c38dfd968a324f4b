"""Builds steps from request bodies: validates them, and matches them with the steps of the previous version."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from clarion.clock import Millis
from clarion.conditions import check_filters, list_previous_steps
from clarion.errors import Invalid, Problem
from clarion.ids import id_text, new_id
from clarion.templates import check_template, has_markup
from clarion.vocabulary import StepType
from clarion.webhooks.wire import EndpointUrl
from clarion.workflows.control_checks import check_controls
from clarion.workflows.custom_form import SHOWN_AS_CUSTOM
from clarion.workflows.flatten import StepProblem, flatten_steps
from clarion.workflows.model import WITH_MARKS, Step, StepPlace, Variant, find_step, kebab
from clarion.workflows.payloads import check_schema
from clarion.workflows.provider_overrides import choose_overrides, list_override_problems
from clarion.workflows.step_wire import StepIn, VariantIn
from clarion.workflows.tree import list_earlier

_WITHOUT_VARIANTS: Final = SHOWN_AS_CUSTOM - {StepType.TOOL}
_OF_MESSAGES: Final = frozenset({StepType.WAIT_FOR, StepType.UPDATE, StepType.CLEAR})
_MAX_URL: Final = 2048
_URL_TEMPLATE: Final = re.compile(r"https?://[^\s{}/?#\\]+[/?#].*|\{\{[^{}]*\}\}")
"""What a payload is put into must not choose the host, unless it has all of the URL."""
_URL_RULE: Final = "must begin with https:// or http:// and the whole host, or be one variable that has all of the URL"


def check_definition(steps: Sequence[StepIn], payload_schema: Any) -> None:
    """Raise Invalid with everything that is wrong with a definition that could not run."""
    _raise_problems(_problems(steps, payload_schema))


def _raise_problems(faults: Iterable[StepProblem]) -> None:
    problems: dict[str, list[Problem]] = {}
    for path, message, value in faults:
        problems.setdefault(path, []).append(Problem(message, value))
    if problems:
        raise Invalid(problems)


def build_steps(inputs: Sequence[StepIn], previous: Sequence[Step], now: Millis) -> list[Step]:
    """Build the steps of a new version; a step with a known `_id` or `stepId` keeps its id."""
    by_id = {step.id: step for step in previous}
    by_step_id = {step.step_id: step for step in previous}
    flat = flatten_steps(inputs, previous)
    _raise_problems(flat.problems)
    named = [_find_given_step_id(step_in, by_id) for step_in in flat.steps]
    taken = {name for name in named if name is not None}
    built: list[Step] = []
    for placed, name in zip(flat.placed, named, strict=True):
        step_id = name or _make_step_id(placed.step, taken)
        taken.add(step_id)
        known = by_id.get(placed.step.id or "") or by_step_id.get(step_id)
        is_used = known is not None and any(step.id == known.id for step in built)
        within = None if placed.branch is None else StepPlace(built[placed.branch].step_id, placed.path)
        built.append(_step(placed.step, step_id, None if is_used else known, within, now))
    paths = [one.where for one in flat.placed]
    _refuse_duplicates(built, paths)
    _refuse_unknown_previous_steps(built, paths)
    _refuse_unknown_messages(built, paths)
    return built


def new_step_id(now: Millis) -> str:
    return id_text(new_id(now))


def _problems(steps: Sequence[StepIn], payload_schema: Any) -> Iterator[StepProblem]:
    flat = flatten_steps(steps)
    yield from flat.problems
    for one in flat.placed:
        yield from _step_problems(one.step, one.where)
    schema = None if payload_schema is None else check_schema(payload_schema)
    if schema is not None:
        yield "payloadSchema", schema, None


def _step_problems(step: StepIn, path: str) -> Iterator[StepProblem]:
    yield from _part_problems(step, step, path)
    yield from _callback_problems(step, f"{path}.replyCallback")
    yield from list_override_problems(step, f"{path}.providerOverrides")
    if step.variants and step.step_type in _WITHOUT_VARIANTS:
        yield f"{path}.variants", f"cannot stand in a step of the type {step.type}; variants are other contents", None
    for number, variant in enumerate(step.variants or ()):
        yield from _part_problems(step, variant, f"{path}.variants.{number}")


def _part_problems(step: StepIn, part: StepIn | VariantIn, path: str) -> Iterator[StepProblem]:
    values = part.control_values or {}
    for where, message in check_controls(step.step_type, values):
        yield f"{path}.controlValues.{where}", message, None
    for where, message in check_filters(part.filters or []):
        yield ".".join(filter(None, (f"{path}.filters", where))), message, None


def _callback_problems(step: StepIn, path: str) -> Iterator[StepProblem]:
    wanted = step.reply_callback
    if wanted is None:
        return
    if step.step_type is not StepType.EMAIL:
        yield path, "is for steps of the type email, whose mails people reply to", None
    elif wanted.active and not wanted.url:
        yield f"{path}.url", "is required while the callback is active", wanted.url
    elif wanted.url and (problem := _find_url_problem(wanted.url)):
        yield f"{path}.url", problem, wanted.url


def _find_url_problem(url: str) -> str | None:
    if not has_markup(url):
        return None if EndpointUrl.accepts(url) else EndpointUrl.RULE
    if len(url) > _MAX_URL:
        return f"must have at most {_MAX_URL} characters"
    return check_template(url) if _URL_TEMPLATE.fullmatch(url) else _URL_RULE


def _find_given_step_id(step_in: StepIn, by_id: dict[str, Step]) -> str | None:
    if step_in.step_id is not None:
        return str(step_in.step_id)
    known = by_id.get(step_in.id or "")
    return None if known is None else known.step_id


def _make_step_id(step_in: StepIn, taken: set[str]) -> str:
    base = kebab(step_in.name) or kebab(step_in.type)
    candidates = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)


def _step(step_in: StepIn, step_id: str, known: Step | None, within: StepPlace | None, now: Millis) -> Step:
    return Step(
        id=new_step_id(now) if known is None else known.id,
        step_id=step_id,
        name=step_in.name,
        type=step_in.step_type,
        active=step_in.active,
        controls=step_in.control_values or {},
        filters=step_in.filters or [],
        should_stop_on_fail=step_in.should_stop_on_fail,
        variants=_variants(step_in.variants or [], known.variants if known else [], now),
        reply_callback=None if step_in.reply_callback is None else step_in.reply_callback.callback(),
        provider_overrides=choose_overrides(step_in, known),
        within=within,
    )


def _variants(inputs: Sequence[VariantIn], previous: Sequence[Variant], now: Millis) -> list[Variant]:
    """Build the variants of a step; a variant with a known `_id`, or else a known name, keeps its id."""
    unmatched = list(previous)
    built: list[Variant] = []
    for variant in inputs:
        known = next((old for old in unmatched if old.id == variant.id), None)
        known = known or next((old for old in unmatched if variant.id is None and old.name == variant.name), None)
        unmatched = [old for old in unmatched if old is not known]
        built.append(
            Variant(
                id=new_step_id(now) if known is None else known.id,
                name=variant.name,
                filters=variant.filters or [],
                controls=variant.control_values or {},
            )
        )
    return built


def _refuse_duplicates(steps: Sequence[Step], paths: Sequence[str]) -> None:
    """`paths` are those of the steps in the body."""
    seen: dict[str, str] = {}
    problems: dict[str, list[Problem]] = {}
    for step, path in zip(steps, paths, strict=True):
        first = seen.setdefault(step.step_id, path)
        if first != path:
            message = f"is the same as that of {first}; every step needs its own"
            problems[f"{path}.stepId"] = [Problem(message, step.step_id)]
    if problems:
        raise Invalid(problems)


def _refuse_unknown_previous_steps(steps: Sequence[Step], paths: Sequence[str]) -> None:
    """Conditions ask about the messages of steps before their own."""
    problems: dict[str, list[Problem]] = {}
    for number, step in enumerate(steps):
        earlier = [one for one in list_earlier(steps, number) if one.type in WITH_MARKS]
        parts = [("", step.filters), *((f".variants.{at}", one.filters) for at, one in enumerate(step.variants))]
        for part, filters in parts:
            for where, reference in list_previous_steps(filters):
                if find_step(earlier, reference) is None:
                    message = "must be the stepId or the _id of an earlier in-app or email step of this workflow"
                    problems[f"{paths[number]}{part}.filters.{where}"] = [Problem(message, reference)]
    if problems:
        raise Invalid(problems)


def _refuse_unknown_messages(steps: Sequence[Step], paths: Sequence[str]) -> None:
    """Steps wait for what becomes of messages of steps before them, and change these."""
    problems: dict[str, list[Problem]] = {}
    for number, step in enumerate(steps):
        wanted = step.controls.get("ofStep") if step.type in _OF_MESSAGES else None
        earlier = {one.step_id for one in list_earlier(steps, number) if one.channel is not None}
        if wanted and wanted not in earlier:
            message = "must be the stepId of an earlier step of this workflow that sends messages"
            problems[f"{paths[number]}.controlValues.ofStep"] = [Problem(message, wanted)]
    if problems:
        raise Invalid(problems)
