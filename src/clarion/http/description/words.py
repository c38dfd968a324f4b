"""Sentences about fields and parameters: the literals under fields in the source, else those of `known_fields`."""

import ast
import functools
import sys
import typing
from collections.abc import Iterator
from inspect import getsource
from typing import Any

from msgspec import inspect

from clarion.http.description.known_fields import FIELDS, QUERY_PARAMETERS


def find_field_text(cls: Any, field: inspect.Field) -> str | None:
    """What a field of an object means: the literal under it, else what its name means everywhere."""
    return find_literal(cls, field.name) or FIELDS.get(field.encode_name)


def find_parameter_text(shape: Any, field: inspect.Field) -> str | None:
    """What a parameter of a query means."""
    return find_literal(shape, field.name) or QUERY_PARAMETERS.get(field.encode_name)


def find_literal(cls: Any, attribute: str) -> str | None:
    """The string literal under a field or a member of an enum, in the class or in a base class that has it."""
    bases = (typing.get_origin(cls) or cls).__mro__
    owners = (base for base in bases if attribute in {**vars(base), **vars(base).get("__annotations__", {})})
    texts = (_literals_of(base.__module__).get((base.__name__, attribute)) for base in owners)
    return next(filter(None, texts), None)


def as_sentences(*texts: str | None) -> str:
    """The texts, each as a sentence."""
    return " ".join(f"{text[0].upper()}{text[1:].removesuffix('.')}." for text in texts if text)


@functools.cache
def _literals_of(module: str) -> dict[tuple[str, str], str]:
    """By class and attribute. Python keeps these literals nowhere, so they are read from the source."""
    tree = ast.parse(getsource(sys.modules[module]))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {(node.name, attribute): text for node in classes for attribute, text in _literals_in(node)}


def _literals_in(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, following in zip(node.body, node.body[1:], strict=False):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        value = following.value if isinstance(following, ast.Expr) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield target.id, " ".join(value.value.split())
