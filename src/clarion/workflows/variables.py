"""The variables of templates and conditions: their values in a run, their JSON Schema, and issues about unknown ones.

The functions that make values stand beside the schemas that describe them; a test compares the two.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from clarion.clock import iso_text
from clarion.conditions import list_fields, list_rule_variables
from clarion.conditions.values import split_path
from clarion.content.translations.known import KnownTexts
from clarion.jsontext import json_text
from clarion.subscribers.model import Subscriber
from clarion.templates import Reference, has_markup, list_references, list_text_keys, weigh_markup
from clarion.templates.texts import NAME as TEXTS
from clarion.templates.texts import join_key
from clarion.vocabulary import Severity, suggestion
from clarion.workflows.control_checks import list_texts, texts_of
from clarion.workflows.controls import BY_TIME
from clarion.workflows.issues import Issue, IssueType, list_parts
from clarion.workflows.model import Step, Variant, Workflow, WorkflowVersion
from clarion.workflows.outputs import FLAG, MOMENT_OR_NULL, TEXT, TEXT_OR_NULL, Schema, closed, describe_outputs
from clarion.workflows.tree import list_earlier, list_questions

MAX_REPEATED_SCHEMA = 16 * 1024
"""Characters of a payload schema that each step of a workflow repeats; a step that is read alone has it in any case."""

_ANY_OBJECT: Schema = {"type": "object", "additionalProperties": True}
_PAYLOAD_ID = "urn:clarion:payload"

_LINKS: Final[Schema] = {
    "unsubscribe_url": TEXT
    | {"format": "uri", "description": "Where the person unsubscribes from this; empty if the workflow is critical"},
    "preferences_url": TEXT | {"format": "uri", "description": "Where the person chooses which messages they get"},
}
_ANSWER_LINK: Final[Schema] = TEXT | {"format": "uri"}
_ANSWERS: Final = frozenset({"primaryAction.answer", "secondaryAction.answer"})
"""Controls that name an answer as templates do its link."""
_UNSUBSCRIBE: Final = ("unsubscribe_url",)
_CRITICAL: Final = "'unsubscribe_url' is empty in critical workflows, from which nobody can unsubscribe; remove it"

MAX_CHECKED_MARKUP: Final = 2_000
"""How much markup of a workflow is checked: it is parsed for the answer, which takes up to 40 ms. Most have less."""

_KEYS: Final = frozenset({"digestKey", "delayPath", "dynamicKey", "throttleKey", "retain.by"})
"""Controls that may be the path of a value, which may be in the payload."""
_COMBINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "$dynamicRef"})
"""What a schema may have to allow members that its properties do not name."""
_PAYLOAD_REFERENCE: Final = {"$ref": "#/properties/payload"}
_OF_ANYTHING: Final = frozenset({"size", "first", "last"})

Use = tuple[str, Sequence[Reference]]
"""Where variables are used, and the paths that may be meant there: one of them has to exist."""


def person_variables(subscriber: Subscriber) -> Mapping[str, Any]:
    return {
        "subscriberId": subscriber.key,
        "firstName": subscriber.first_name,
        "lastName": subscriber.last_name,
        "email": subscriber.email,
        "phone": subscriber.phone,
        "avatar": subscriber.avatar,
        "locale": subscriber.locale,
        "timezone": subscriber.timezone,
        "data": subscriber.data or {},
        "isOnline": subscriber.is_online,
        "lastOnlineAt": None if subscriber.last_online_at is None else iso_text(subscriber.last_online_at),
    }


def _person_schema(description: str) -> Schema:
    texts = ("firstName", "lastName", "email", "phone", "avatar", "locale", "timezone")
    more: Schema = {
        "data": _ANY_OBJECT | {"description": "What the application stores with the subscriber"},
        "isOnline": {"type": ["boolean", "null"]},
        "lastOnlineAt": MOMENT_OR_NULL,
    }
    return closed({"subscriberId": TEXT} | dict.fromkeys(texts, TEXT_OR_NULL) | more, description)


def workflow_variables(workflow: Workflow) -> Mapping[str, Any]:
    return {
        "name": workflow.name,
        "workflowId": workflow.key,
        "tags": workflow.tags,
        "severity": workflow.severity,
    }


def _workflow_schema() -> Schema:
    properties: Schema = {
        "name": TEXT,
        "workflowId": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "severity": {"type": "string", "enum": [one.value for one in Severity]},
    }
    return closed(properties, "This workflow")


def digest_variables(digest: Mapping[str, Any] | None) -> dict[str, Any]:
    """The events of the last digest of a run, which are none where there is no digest."""
    events = [event["payload"] for event in digest.get("events", ())] if digest else []
    total = count_events(digest) if digest else 0
    return {"digest": digest is not None, "events": events, "total_count": total}


def _environment_schema(keys: Collection[str] | None) -> Schema:
    """`keys` are those of the variables that exist; without them any may."""
    properties: Schema = {
        "name": TEXT | {"description": "The name of the environment, such as Production"},
        "type": {"type": "string", "enum": ["dev", "prod"]},
    }
    properties = dict.fromkeys(sorted(keys or ()), TEXT) | properties
    others: Schema = {"additionalProperties": TEXT if keys is None else False}
    return {"type": "object", "properties": properties, "description": "The environment, and its variables"} | others


def _digest_schema() -> Schema:
    properties: Schema = {
        "digest": FLAG | {"description": "Whether the run has a digest"},
        "events": {"type": "array", "items": _PAYLOAD_REFERENCE, "description": "The payloads of the first events"},
        "total_count": {"type": "integer", "minimum": 0, "description": "The number of all events"},
    }
    return closed(properties, "The events of the last digest before this step")


def count_events(digest: Mapping[str, Any]) -> int:
    """How many events a closed digest has, those included that it does not show."""
    count: int = digest.get("eventCount", len(digest.get("events", ())))
    return count


def describe_variables(
    version: WorkflowVersion, step: Step, *, whole: bool = False, env_keys: Collection[str] | None = None
) -> Schema:
    """Return the JSON Schema of the variables in scope of a step.

    A payload schema that is large is left out, unless `whole`: all steps of a workflow would repeat it. `env_keys` are
    the keys of the variables of environments; without them any key may exist.
    """
    place = next((number for number, one in enumerate(version.steps) if one.id == step.id), len(version.steps))
    earlier = [one for one in list_earlier(version.steps, place) if one.active]
    links = {} if step.channel is None else _LINKS | _answers_schema(version, place)
    actor = _person_schema("Who acted, if the trigger names an actor")
    return closed(
        {
            "subscriber": _person_schema("Whom the message is for"),
            "actor": actor | {"type": ["object", "null"]},
            "payload": _payload_schema(version.payload_schema, whole=whole),
            "context": _context_schema(),
            "workflow": _workflow_schema(),
            "steps": _steps_schema(earlier),
            "step": _digest_schema(),
            "env": _environment_schema(env_keys),
            "locale": TEXT | {"description": "The language of the person, such as en_US"},
            TEXTS: _ANY_OBJECT | {"description": "The translated texts of the workflow, by their keys"},
            **links,
        },
        "Variables of templates and conditions",
    )


def describe_layout_variables() -> Schema:
    """Return the JSON Schema of the variables of layouts, which serve workflows with different payloads."""
    return closed(
        {
            "subscriber": _person_schema("Whom the message is for"),
            "content": TEXT | {"description": "The content of the e-mail, which the layout stands around"},
            "context": _context_schema(),
            "env": _environment_schema(None),
            "locale": TEXT | {"description": "The language of the person, such as en_US"},
            **_LINKS,
        },
        "Variables of layouts",
    )


def find_unknown_in(path: str, text: str, scope: Schema) -> list[Issue]:
    """List the variables of one text that can never have a value in the scope; translations are checked elsewhere."""
    uses = ((path, [reference]) for reference in list_references(text) if reference[0] != TEXTS)
    found = (_find_issue(use, scope) for use in uses)
    return list(dict.fromkeys(issue for issue in found if issue is not None))


def _payload_schema(schema: Mapping[str, Any] | None, *, whole: bool) -> Schema:
    if schema is None:
        return _ANY_OBJECT | {"description": "What the trigger sends"}
    text = json_text(schema)
    if not whole and len(text) > MAX_REPEATED_SCHEMA:
        return _ANY_OBJECT | {"description": "What the trigger sends; see `payloadSchema` of the workflow"}
    # References in it are relative to the schema itself.
    return {"$id": _PAYLOAD_ID} | dict(schema) if '"$ref"' in text else dict(schema)


def _context_schema() -> Schema:
    one = closed({"id": TEXT, "data": _ANY_OBJECT}, None) | {"required": ["id"]}
    return {"type": "object", "additionalProperties": one, "description": "The contexts of the trigger, by their types"}


def _answers_schema(version: WorkflowVersion, place: int) -> Schema:
    """The links to the answers of questions that the run may ask behind a step."""
    asking = list_questions(version.steps, place) if place < len(version.steps) else []
    if not asking:
        return {}
    links = {one.step_id: closed(dict.fromkeys(one.choices, _ANSWER_LINK), one.name) for one in asking}
    return {"answers": closed(links, "Where the person gives each answer")}


def _steps_schema(earlier: Sequence[Step]) -> Schema:
    outputs = {one.step_id: describe_outputs(one) for one in earlier}
    return closed(
        outputs, "What earlier steps came to; those that were skipped are absent, and failed ones but for HTTP steps"
    )


def find_unknown_variables(
    version: WorkflowVersion,
    known: KnownTexts | None = None,
    env_keys: Collection[str] | None = None,
    *,
    is_critical: bool = False,
) -> dict[str, list[Issue]]:
    """List the variables of each step that can never have a value, and missing texts, by the id of the step.

    Texts and variables of environments are not looked at if nothing is known of them.
    """
    by_step: dict[str, list[Issue]] = {}
    left = MAX_CHECKED_MARKUP
    for step in version.steps:
        parts = [(prefix, part, _list_texts(step, part)) for prefix, part in list_parts(step)]
        left -= sum(weigh_markup(text) for _, _, texts in parts for _, text in texts)
        if left < 0:
            break
        scope = _scope_of(version, step, env_keys)
        uses = (use for prefix, part, texts in parts for use in _list_uses(prefix, part, texts))
        issues = [_find_issue(use, scope, is_critical=is_critical) for use in uses]
        if known is not None:
            issues += [issue for prefix, _, texts in parts for issue in find_missing_texts(prefix, texts, known)]
        by_step[step.id] = list(dict.fromkeys(one for one in issues if one is not None))
    return by_step


def list_payload_uses(step: Step) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield where the step asks for a value of the payload, and the names on the way to it."""
    for prefix, part in list_parts(step):
        for path, meant in _list_uses(prefix, part, _list_texts(step, part)):
            names = meant[0]
            if names[0] == "payload" and len(names) > 1 and None not in names:
                yield path, [str(name) for name in names[1:]]


def _scope_of(version: WorkflowVersion, step: Step, env_keys: Collection[str] | None) -> dict[str, Any]:
    scope = describe_variables(version, step, whole=True, env_keys=env_keys)
    if not version.validate_payload:
        # Triggers may send more than the schema says.
        scope["properties"]["payload"] = {}
    return scope


def _list_texts(step: Step, part: Step | Variant) -> list[tuple[str, str]]:
    """The texts of controls and filters, and of the overrides of the step, each with its path."""
    overrides = step.provider_overrides if part is step else None
    texts = [*list_texts(step.type, part.controls), *texts_of(part.filters, "filters")]
    return [*texts, *texts_of(overrides, "providerOverrides")]


def _list_uses(prefix: str, part: Step | Variant, texts: Sequence[tuple[str, str]]) -> Iterator[Use]:
    for path, text in texts:
        if (path, text) == ("retain.by", BY_TIME):
            continue
        if meant := _list_named(path, text):
            yield prefix + path, meant
        for reference in list_references(text):
            yield prefix + path, [reference]
    for path, rule in part.list_rules():
        for text in list_rule_variables(rule):
            yield prefix + path, [tuple(split_path(text))]
    for path, source, text in list_fields(part.filters):
        names = tuple(split_path(text))
        yield f"{prefix}filters.{path}", [(source, *names), *([names] if names[0] == source else [])]


def _list_named(path: str, text: str) -> list[Reference]:
    """What a control names without being a template, if it does."""
    if path in _ANSWERS:
        return [("answers", *text.rpartition(".")[::2])]
    if path not in _KEYS or has_markup(text):
        return []
    names = tuple(split_path(text.strip()))
    return [names, ("payload", *names)]


def find_missing_texts(prefix: str, texts: Iterable[tuple[str, str]], known: KnownTexts) -> Iterator[Issue]:
    """List the keys in texts, each given with its path, that have no text for everyone."""
    for path, text in texts:
        named = [one for one in list_references(text) if one[0] == TEXTS and None not in one]
        # What only looks like the key of a text is left alone where there are none.
        arguments = list_text_keys(text) if known.is_enabled else []
        for key in dict.fromkeys([*map(join_key, named), *arguments]):
            problem = known.find_problem(key) if key else "it is the object of all texts; name one by its key"
            if problem is not None:
                name = f"{TEXTS}.{key}" if key else TEXTS
                yield Issue(prefix + path, IssueType.ILLEGAL_VARIABLE, f"'{name}' can never have a value: {problem}")


def _find_issue(use: Use, scope: Mapping[str, Any], *, is_critical: bool = False) -> Issue | None:
    path, meant = use
    if is_critical and _UNSUBSCRIBE in meant:
        return Issue(path, IssueType.ILLEGAL_VARIABLE, _CRITICAL)
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
        elif _isclosed(schema) and isinstance(name, str) and name not in _OF_ANYTHING:
            return _explain(reference, place, properties)
        else:
            schema = schema.get("additionalProperties")
    return None


def _types(schema: Mapping[str, Any]) -> Sequence[str]:
    kind = schema.get("type", ())
    return [kind] if isinstance(kind, str) else kind


def _isclosed(schema: Mapping[str, Any]) -> bool:
    return "object" in _types(schema) and schema.get("additionalProperties") is False


def _explain(reference: Reference, place: int, known: Mapping[str, Any]) -> str:
    name = str(reference[place])
    whole = ".".join("…" if one is None else str(one) for one in reference)
    inside = ".".join(map(str, reference[:place]))
    where = f"there is no '{name}' in '{inside}'" if inside else f"there is no variable '{name}'"
    hint = suggestion(name, known)
    if inside == "env" and not hint:
        hint = "; variables for credentials are not for texts"
    if not hint and not inside and "payload" in known:
        hint = "; values of the trigger are in 'payload'"
    return f"'{whole}' can never have a value: {where}{hint}"
