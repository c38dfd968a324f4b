"""What later steps see of a step under `steps`, as JSON Schema; its module in `engine/steps` returns it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clarion.jsontext import json_text
from clarion.vocabulary import StepType
from clarion.workflows.model import Step
from clarion.workflows.tree import list_path_names

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
MOMENT_OR_NULL: Final[Schema] = {"type": ["string", "null"], "format": "date-time"}
FLAG: Final[Schema] = {"type": "boolean"}

_OUTLINED_LEVELS: Final = 4
"""How deep the members of what a custom step comes to are listed."""
_PAYLOAD: Final[Schema] = {"$ref": "#/properties/payload"}
_MARKS: Final[Schema] = {"seen": FLAG, "read": FLAG}


def closed(properties: Schema, description: str | None) -> Schema:
    """The schema of an object that has these members and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema if description is None else schema | {"description": description}


def describe_outputs(step: Step) -> Schema:
    make = _SCHEMAS.get(step.type)
    return closed({}, None) if make is None else make(step)


def _in_app(_: Step) -> Schema:
    more = {"lastSeenDate": MOMENT_OR_NULL, "lastReadDate": MOMENT_OR_NULL, "messageId": TEXT}
    return closed(_MARKS | more, "The message as it is when this step is reached")


def _email(_: Step) -> Schema:
    return closed(_MARKS, "Whether the provider reported that the e-mail was opened")


def _digest(_: Step) -> Schema:
    event = closed({"id": TEXT, "time": TEXT | {"format": "date-time"}, "payload": _PAYLOAD}, None)
    count = {"type": "integer", "minimum": 0, "description": "The number of all events"}
    return closed({"events": {"type": "array", "items": event}, "eventCount": count}, "The digested events")


def _throttle(_: Step) -> Schema:
    return closed({"throttled": FLAG}, None)


def _branch(step: Step) -> Schema:
    return closed({"path": {"enum": [*list_path_names(step), None]}}, "The path that was taken; null is none")


def _trigger(_: Step) -> Schema:
    return closed({"transactionId": TEXT}, "The trigger of the other workflow")


def _wait_for(_: Step) -> Schema:
    # What the data has depends on whoever emits the event.
    event = {"event": TEXT_OR_NULL, "at": MOMENT_OR_NULL, "data": {"type": ["object", "null"]}}
    return closed({"matched": FLAG} | event, "The event that came; null if none did in time")


def _http_request(step: Step) -> Schema:
    body = step.controls.get("responseBodySchema")
    # References in it are relative to itself.
    is_known = isinstance(body, dict) and '"$ref"' not in json_text(body)
    properties: Schema = {
        "ok": FLAG | {"description": "Whether the status was 2xx, and the body as it has to be"},
        "status": {"type": ["integer", "null"], "description": "Null if there was no answer"},
        "headers": {"type": "object", "additionalProperties": TEXT, "description": "By names in lower case"},
        "body": body if is_known else {},
    }
    return closed(properties, "The answer to the request")


def _ask(step: Step) -> Schema:
    members = {
        "answer": {"enum": [*step.choices, None]},
        "label": TEXT_OR_NULL,
        "by": TEXT_OR_NULL,
        "at": MOMENT_OR_NULL,
    }
    return closed(members, "The answer, with the subscriberId of who gave it; null if nobody answered in time")


def _changes(_: Step) -> Schema:
    counts: Schema = {name: {"type": "integer", "minimum": 0} for name in ("changed", "pending", "refused")}
    return closed(counts, "How many messages were changed, are being changed at providers, and could not be")


def _custom(step: Step) -> Schema:
    controls = [part.controls for part in (step, *step.variants)]
    outputs = [{name: value for name, value in one.items() if name != "skip"} for one in controls]
    return _outline(outputs) | {"description": "The controls of the step, rendered"}


_SCHEMAS: Final[Mapping[StepType, Callable[[Step], Schema]]] = {
    StepType.IN_APP: _in_app,
    StepType.EMAIL: _email,
    StepType.DIGEST: _digest,
    StepType.THROTTLE: _throttle,
    StepType.BRANCH: _branch,
    StepType.TRIGGER: _trigger,
    StepType.WAIT_FOR: _wait_for,
    StepType.HTTP_REQUEST: _http_request,
    StepType.ASK: _ask,
    StepType.UPDATE: _changes,
    StepType.CLEAR: _changes,
    StepType.CUSTOM: _custom,
}


def _outline(values: Sequence[Any], depth: int = _OUTLINED_LEVELS) -> Schema:
    """The members that several values have together, if all of them are objects; else anything."""
    if depth == 0 or not all(isinstance(value, dict) for value in values):
        return {}
    names = dict.fromkeys(name for value in values for name in value)
    inside = {name: [value[name] for value in values if name in value] for name in names}
    return closed({name: _outline(found, depth - 1) for name, found in inside.items()}, None)
