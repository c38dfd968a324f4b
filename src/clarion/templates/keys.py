"""Keys of digests, delays and throttles: an expression such as `{{payload.room}}`, or a path such as `room`."""

from collections.abc import Mapping
from typing import Any, Literal

from liquid import Undefined
from liquid.builtin.output import OutputNode

from clarion.conditions.values import MISSING, Missing, find_value, follow, is_path, split_path
from clarion.templates.metering import LimitedContext
from clarion.templates.parsing import FAULTS, TemplateProblem, explain_fault, has_markup, parse
from clarion.templates.rendering import check_template, render_text


def check_key(expression: str) -> str | None:
    """Return what is wrong with a key, or None."""
    if has_markup(expression):
        return check_template(expression)
    if is_path(expression.strip()):
        return None
    return "must be a path such as payload.room, or an expression such as {{payload.room}}"


def evaluate_key(expression: str, variables: Mapping[str, Any]) -> Any:
    """Return the value that a key names, not its text, or None if it is absent; raises TemplateProblem."""
    if not has_markup(expression):
        found = find_path(variables, expression.strip())
        return None if found is MISSING else found
    template = parse(expression.strip()).template
    match template.nodes:
        case [OutputNode() as node]:
            return _evaluate(node, LimitedContext(template, variables))
        case _:
            return render_text(expression.strip(), variables)


def find_path(variables: Mapping[str, Any], path: str) -> Any | Literal[Missing.MISSING]:
    """Return the value at a path, with or without the leading `payload.`, or MISSING.

    A single name is looked up in the payload first: its member `subscriber` hides the variable of that name.
    """
    parts = split_path(path)
    if len(parts) > 1 and (found := follow(variables, parts)) is not MISSING:
        return found
    inside = find_value(variables.get("payload"), path)
    return follow(variables, parts) if inside is MISSING else inside


def _evaluate(node: OutputNode, context: LimitedContext) -> Any:
    try:
        value = node.expression.evaluate(context)
    except FAULTS as fault:
        raise TemplateProblem(explain_fault(fault)) from None
    finally:
        context.close()
    return None if isinstance(value, Undefined) else value
