"""Compiles block documents to templates over HTML."""

from typing import Final

from msgspec import Struct

from clarion.content.email.blocks.boxes import BOXES
from clarion.content.email.blocks.document import read_document
from clarion.content.email.blocks.frame import with_frame
from clarion.content.email.blocks.media import MEDIA
from clarion.content.email.blocks.texts import TEXTS
from clarion.content.email.blocks.writing import Place, Write, Writer
from clarion.content.email.problems import BodyProblem
from clarion.work import note_parsing

NODES: Final[dict[str, Write]] = {**TEXTS, **MEDIA, **BOXES}

_CHARACTERS_A_STEP: Final = 200
"""Of the compiled markup: what compiling costs, against a step of work."""


class CompiledBlocks(Struct, frozen=True):
    markup: str
    """A template, for rendering with escaped values."""
    problems: tuple[BodyProblem, ...] = ()
    uses: tuple[tuple[str, str], ...] = ()
    """Paths and templates with the same variables as the document there."""


def compile_blocks(body: str, *, is_part: bool = False) -> CompiledBlocks:
    """Compile a document: the whole e-mail, or the part of it that stands in a layout."""
    document = read_document(body)
    if isinstance(document, BodyProblem):
        return CompiledBlocks("", (document,))
    writer = Writer(NODES)
    markup = writer.write_all(document.children, Place(path="body"))
    note_parsing(len(markup) // _CHARACTERS_A_STEP)
    return CompiledBlocks(markup if is_part else with_frame(markup), tuple(writer.problems), tuple(writer.uses))
