"""Texts and records that are never printed by accident."""

from typing import Any, ClassVar

from msgspec import Struct


class Secret:
    """A text that only `reveal` returns; printing shows `***`, formatting and pickling raise TypeError."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "***"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __format__(self, spec: str) -> str:
        raise TypeError("A secret is not part of a text; reveal it where it is used")

    def __reduce__(self) -> Any:
        raise TypeError("A secret is not copied elsewhere")


class PartlyPrinted(Struct, frozen=True, kw_only=True):
    """A record of which only the fields in PRINTED are printed; the others hold secrets or addresses."""

    PRINTED: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.PRINTED]
