"""Issues about variables that can never have a value: the templates and conditions of a step against its scope."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clarion.conditions import list_fields, list_rule_variables
from clarion.conditions.paths import split_path
from clarion.templates import Reference, has_markup, list_references, weigh_markup
from clarion.wording import suggestion
from clarion.workflows.issues import Issue, IssueType, list_parts
from clarion.workflows.model import Step, Variant, WorkflowVersion
from clarion.workflows.variables import describe_variables

MAX_CHECKED_MARKUP: Final = 2_000
"""How much markup of a workflow is checked: it is parsed for the answer, which takes up to 40 ms. Most have less."""

_KEYS: Final = frozenset({"digestKey", "delayPath", "dynamicKey", "throttleKey"})
"""Controls that may be the path of a value, which may be in the payload."""
_COMBINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "$dynamicRef"})
"""What a schema may have to allow members that its properties do not name."""
_PAYLOAD_REFERENCE: Final = {"$ref": "#/properties/payload"}
_OF_ANYTHING: Final = frozenset({"size", "first", "last"})

Use = tuple[str, Sequence[Reference]]
"""Where variables are used, and the paths that may be meant there: one of them has to exist."""


def find_unknown_variables(version: WorkflowVersion) -> dict[str, list[Issue]]:
    """List the variables of each step that can never have a value, by the id of the step."""
    found: dict[str, list[Issue]] = {}
    left = MAX_CHECKED_MARKUP
    for step in version.steps:
        parts = [(prefix, part, _list_texts(part)) for prefix, part in list_parts(step)]
        left -= sum(weigh_markup(text) for _, _, texts in parts for _, text in texts)
        if left < 0:
            break
        scope = _scope_of(version, step)
        uses = (use for prefix, part, texts in parts for use in _list_uses(prefix, part, texts))
        issues = [_find_issue(use, scope) for use in uses]
        found[step.id] = list(dict.fromkeys(one for one in issues if one is not None))
    return found


def _scope_of(version: WorkflowVersion, step: Step) -> dict[str, Any]:
    scope = describe_variables(version, step, whole=True)
    if not version.validate_payload:
        # Triggers may send more than the schema says.
        scope["properties"]["payload"] = {}
    return scope


def _list_texts(part: Step | Variant) -> list[tuple[str, str]]:
    """The texts of controls and filters, each with its path."""
    controls = [found for name, value in part.controls.items() if name != "skip" for found in _walk(name, value)]
    return controls + list(_walk("filters", part.filters))


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _walk(f"{path}.{name}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _walk(f"{path}.{number}", inner)


def _list_uses(prefix: str, part: Step | Variant, texts: Sequence[tuple[str, str]]) -> Iterator[Use]:
    for path, text in texts:
        if path in _KEYS and not has_markup(text):
            names = tuple(split_path(text.strip()))
            yield prefix + path, [names, ("payload", *names)]
        for reference in list_references(text):
            yield prefix + path, [reference]
    for text in list_rule_variables(part.controls.get("skip")):
        yield f"{prefix}skip", [tuple(split_path(text))]
    for path, source, text in list_fields(part.filters):
        names = tuple(split_path(text))
        yield f"{prefix}filters.{path}", [(source, *names), *([names] if names[0] == source else [])]


def _find_issue(use: Use, scope: Mapping[str, Any]) -> Issue | None:
    path, meant = use
    problems = [_find_problem(reference, scope) for reference in meant]
    if None in problems:
        return None
    return Issue(path, IssueType.ILLEGAL_VARIABLE, str(problems[0]))


def _find_problem(reference: Reference, scope: Mapping[str, Any]) -> str | None:
    """Return why a variable cannot have a value, or None if it may have one."""
    schema: Any = scope
    for place, name in enumerate(reference):
        if schema == _PAYLOAD_REFERENCE:
            schema = scope["properties"]["payload"]
        if not isinstance(schema, Mapping) or not _COMBINED.isdisjoint(schema):
            return None
        properties = schema.get("properties", {})
        if name in properties:
            schema = properties[name]
        elif "array" in _types(schema):
            schema = schema.get("items")
        elif _is_closed(schema) and isinstance(name, str) and name not in _OF_ANYTHING:
            return _explain(reference, place, properties)
        else:
            schema = schema.get("additionalProperties")
    return None


def _types(schema: Mapping[str, Any]) -> Sequence[str]:
    kind = schema.get("type", ())
    return [kind] if isinstance(kind, str) else kind


def _is_closed(schema: Mapping[str, Any]) -> bool:
    return "object" in _types(schema) and schema.get("additionalProperties") is False


def _explain(reference: Reference, place: int, known: Mapping[str, Any]) -> str:
    name = str(reference[place])
    whole = ".".join("…" if one is None else str(one) for one in reference)
    inside = ".".join(map(str, reference[:place]))
    where = f"there is no '{name}' in '{inside}'" if inside else f"there is no variable '{name}'"
    hint = suggestion(name, known)
    if not hint and not inside:
        hint = "; values of the trigger are in 'payload'"
    return f"'{whole}' can never have a value: {where}{hint}"
