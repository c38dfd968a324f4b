"""Which variables a template refers to."""

from typing import Final

from clarion.cache import BoundedCache
from clarion.templates.parsing import FAULTS, MAX_CACHED, MAX_CACHED_CHARACTERS, TemplateProblem, has_markup, parse

Reference = tuple[str | int | None, ...]
"""The path of a variable; None stands for a member that another variable names."""


def list_references(text: str) -> tuple[Reference, ...]:
    """List the variables that a template takes from outside; loop variables and assigned ones are its own.

    A text that is no template has none.
    """
    if not has_markup(text):
        return ()
    found = _cache.get(text)
    if found is None:
        found = _analyze(text)
        _cache.put(text, found)
    return found


def _analyze(text: str) -> tuple[Reference, ...]:
    try:
        analysis = parse(text).template.analyze(include_partials=False)
    except (TemplateProblem, *FAULTS):
        return ()
    paths = (one.segments for found in analysis.globals.values() for one in found)
    return tuple(dict.fromkeys(tuple(name if isinstance(name, str | int) else None for name in path) for path in paths))


_cache: Final[BoundedCache[str, tuple[Reference, ...]]] = BoundedCache(
    limit=MAX_CACHED, weight_limit=MAX_CACHED_CHARACTERS, weigh=len
)
