"""What marking changes."""

import pytest

from clarion.clock import Millis
from clarion.messages.model import MessageChanges, decide_marks
from clarion.vocabulary import MarkAs

NOW = Millis(1_000)


@pytest.mark.parametrize(
    ("mark_as", "changes"),
    [
        (MarkAs.READ, {"seen": True, "seen_at": NOW, "read": True, "read_at": NOW}),
        (MarkAs.SEEN, {"seen": True, "seen_at": NOW}),
        (MarkAs.UNREAD, {"read": False, "read_at": None}),
        (MarkAs.UNSEEN, {"seen": False, "seen_at": None, "read": False, "read_at": None}),
    ],
)
def test_a_mark_sets_its_flags_and_dates_and_nothing_else(mark_as: MarkAs, changes: MessageChanges) -> None:
    assert decide_marks(mark_as, NOW) == changes
