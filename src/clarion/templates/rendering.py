"""Validates and renders templates."""

from collections.abc import Mapping
from typing import Any

from liquid import BoundTemplate

from clarion.templates.fast_path import render_segments
from clarion.templates.metering import LimitedContext, LimitedOutput
from clarion.templates.parsing import (
    FAULTS,
    MAX_TEMPLATE,
    TemplateProblem,
    explain_fault,
    find_filter_problem,
    has_markup,
    parse,
)
from clarion.templates.texts import TextCatalog, Texts
from clarion.work import spend_work


def check_template(text: str) -> str | None:
    """Return what is wrong with the size, syntax, tags or filters of a template, or None."""
    if len(text) > MAX_TEMPLATE:
        return f"must not be longer than {MAX_TEMPLATE} characters"
    if not has_markup(text):
        return None
    try:
        fault = find_filter_problem(text)
    except TemplateProblem as problem:
        return f"is not a valid template: {problem}"
    return f"is not a valid template: {fault}" if fault else None


def render_text(text: str, variables: Mapping[str, Any], *, html: bool = False) -> str:
    """Render a template; unknown variables are empty, and with `html` values are escaped."""
    if not has_markup(text):
        return text
    template, segments, _ = parse(text, html=html)
    rendered = None
    if segments is not None:
        rendered, steps = render_segments(segments, variables, html=html)
        if not spend_work(steps):
            raise TemplateProblem("together with the texts before it, it takes too much work")
    if rendered is None:
        rendered = _render(template, variables)
    # Filters that decode can produce U+0000, which PostgreSQL cannot store.
    return rendered.replace("\0", "") if "\0" in rendered else rendered


def make_texts(catalog: TextCatalog) -> Texts:
    """Return what `t` is in templates for people of a language."""
    return Texts(catalog, render_text)


def _render(template: BoundTemplate, variables: Mapping[str, Any]) -> str:
    context = LimitedContext(template, variables)
    output = LimitedOutput(context)
    try:
        for node in template.nodes:
            node.render(context, output)
    except FAULTS as fault:
        raise TemplateProblem(explain_fault(fault)) from None
    finally:
        context.close()
    return output.getvalue()


def render_value(value: Any, variables: Mapping[str, Any], *, html: bool = False) -> Any:
    """Render every text in a JSON value; names of members stay as they are."""
    if isinstance(value, str):
        return render_text(value, variables, html=html) if has_markup(value) else value
    if isinstance(value, dict):
        return {name: render_value(item, variables, html=html) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [render_value(item, variables, html=html) for item in value]
    return value
