"""Texts that take work to make, and are made only if a template or a condition asks for them."""

from collections.abc import Callable


class LazyText:
    """Stands for a text among the variables; `str` makes it."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()

    def __bool__(self) -> bool:
        return bool(str(self))

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, str | LazyText) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))
