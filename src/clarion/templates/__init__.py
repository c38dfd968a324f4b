"""Templates: texts with variables, in Liquid."""

from clarion.conditions.values import MISSING
from clarion.templates.keys import check_key, evaluate_key, find_path
from clarion.templates.parsing import (
    MAX_TEMPLATE,
    Reference,
    TemplateProblem,
    has_markup,
    list_references,
    list_text_keys,
    weigh_markup,
)
from clarion.templates.rendering import check_template, make_texts, render_text, render_value
from clarion.templates.sanitizing import is_script_link, sanitize_text

__all__ = [
    "MAX_TEMPLATE",
    "MISSING",
    "Reference",
    "TemplateProblem",
    "check_key",
    "check_template",
    "evaluate_key",
    "find_path",
    "has_markup",
    "is_script_link",
    "list_references",
    "list_text_keys",
    "make_texts",
    "render_text",
    "render_value",
    "sanitize_text",
    "weigh_markup",
]
