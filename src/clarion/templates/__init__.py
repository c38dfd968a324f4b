"""Templates: texts with variables, in Liquid."""

from clarion.paths import MISSING
from clarion.templates.keys import check_key, evaluate_key, find_path
from clarion.templates.rendering import TemplateProblem, check_template, has_markup, render_text, render_value
from clarion.templates.sanitizing import is_script_link, sanitize_text

__all__ = [
    "MISSING",
    "TemplateProblem",
    "check_key",
    "check_template",
    "evaluate_key",
    "find_path",
    "has_markup",
    "is_script_link",
    "render_text",
    "render_value",
    "sanitize_text",
]
