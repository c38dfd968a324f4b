"""How templates refer to texts beside `{{t.key}}`: `'t.key'` as the argument of a filter, and the filter `plural`."""

import re
from collections.abc import Iterable
from typing import Any, Final

from liquid import RenderContext
from liquid.builtin.expressions.filtered import Filter
from liquid.builtin.expressions.primitive import StringLiteral
from liquid.expression import Expression
from liquid.filter import with_context

from clarion.templates.filters import as_text, count_of
from clarion.templates.texts import NAME, PluralText, Texts

_KEY: Final = re.compile(r"t\.(\w[\w.-]*)")
PLURAL: Final = "plural"


class TextReference(Expression):
    """The argument `'t.key'`: the text, or what is written where there is none."""

    __slots__ = ("_literal", "key")

    def __init__(self, literal: StringLiteral, key: str) -> None:
        super().__init__(literal.token)
        self._literal = literal
        self.key = key

    def __str__(self) -> str:
        return str(self._literal)

    def evaluate(self, context: RenderContext) -> object:
        texts = context.scope.get(NAME)
        if not isinstance(texts, Texts):
            return self._literal.evaluate(context)
        text = context.write_text(texts, self.key)  # type: ignore[attr-defined]
        return text if texts.has(self.key) else self._literal.evaluate(context)

    def children(self) -> list[Expression]:
        return []


def refer_to_texts(used: Iterable[Filter]) -> None:
    """Replace the arguments of filters that name texts; `plural` looks its text up by the key."""
    for used_filter in used:
        if used_filter.name == PLURAL:
            continue
        for argument in used_filter.args:
            literal = argument.value
            if isinstance(literal, StringLiteral) and (match := _KEY.fullmatch(literal.value)):
                argument.value = TextReference(literal, match[1])


def list_keys(used: Iterable[Filter]) -> list[str]:
    """List the keys of texts that arguments of filters name."""
    keys = []
    for used_filter in used:
        for argument in used_filter.args:
            if isinstance(argument.value, TextReference):
                keys.append(argument.value.key)
            elif used_filter.name == PLURAL and isinstance(argument.value, StringLiteral):
                keys.append(plain_key(argument.value.value))
    return keys


@with_context
def plural(value: Any, key: Any, *, context: RenderContext) -> str:
    """`plural: 't.replies'`: the form of a text for a number, or for the number of items of a list."""
    texts = context.scope.get(NAME)
    name = key.key if isinstance(key, PluralText) else plain_key(as_text(key))
    if not isinstance(texts, Texts):
        return name
    text: str = context.write_text(texts, name, number=count_of(value))  # type: ignore[attr-defined]
    return text


def plain_key(text: str) -> str:
    """Return the key of a text that is named with or without `t.`."""
    match = _KEY.fullmatch(text)
    return text if match is None else match[1]
