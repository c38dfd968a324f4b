"""The state of a message in the inbox against a small model, whatever its owner does and in whatever order."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import HOUR, Millis
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, MessageId, SubscriberId, TransactionKey, WorkflowId
from clarion.inbox import state
from clarion.jsontext import json_value
from clarion.messages.model import MAX_DELIVERIES, InboxMessage
from clarion.vocabulary import Severity

START = Millis(1_000_000)
CTA = '{"action":{"buttons":[{"type":"primary","content":"Go"}]}}'

NEW = InboxMessage(
    environment_id=EnvironmentId(bytes(16)),
    id=MessageId(bytes(16)),
    subscriber_id=SubscriberId(bytes(16)),
    workflow_id=WorkflowId(bytes(16)),
    transaction_key=TransactionKey("t"),
    content="Hello",
    subject=None,
    avatar=None,
    cta=CTA,
    data=None,
    severity=Severity.NONE,
    seen=False,
    read=False,
    archived=False,
    seen_at=None,
    read_at=None,
    archived_at=None,
    snoozed_until=None,
    delivered_at=[START],
    created_at=START,
)
ACTIONS = ("read", "unread", "archive", "unarchive", "snooze", "unsnooze", "wake", "complete", "revert")


class Model(msgspec.Struct):
    """What a person expects to see."""

    read: bool = False
    seen: bool = False
    archived: bool = False
    snoozed: bool = False
    done: bool = False
    deliveries: int = 1

    def do(self, action: str) -> None:  # noqa: C901 - one case for each action
        match action:
            case "read" | "complete":
                self.read = self.seen = True
                self.archived = self.archived and action == "complete"
                self.done = self.done or action == "complete"
            case "unread":
                self.read = self.archived = False
            case "archive":
                self.read = self.seen = self.archived = True
                self.snoozed = False
            case "unarchive":
                self.archived = False
            case "snooze":
                self.seen = self.snoozed = True
                self.archived = False
            case "unsnooze":
                self.snoozed = False
            case "wake":
                self.snoozed = self.read = False
                self.deliveries += 1
            case "revert":
                self.done = False


def act(message: InboxMessage, action: str, now: Millis) -> InboxMessage:
    match action:
        case "read":
            return state.mark_read(message, now)
        case "unread":
            return state.mark_unread(message, now)
        case "snooze":
            return state.snooze(message, now, until=Millis(now + HOUR))
        case "complete":
            return state.complete_action(message, now, button="primary")
        case "revert":
            return state.revert_action(message, now, button="primary")
        case _:
            changed: InboxMessage = getattr(state, action)(message, now)
            return changed


@given(st.lists(st.sampled_from(ACTIONS), max_size=30))
def test_a_message_is_as_its_owner_expects_after_any_actions(actions: list[str]) -> None:
    message, model, now = NEW, Model(), START
    for action in actions:
        now = Millis(now + 1)
        if action in ("unsnooze", "wake") and not model.snoozed:
            continue
        before, message = message, act(message, action, now)
        model.do(action)

        assert (message.read, message.seen, message.archived) == (model.read, model.seen, model.archived)
        assert (message.snoozed_until is not None) is model.snoozed
        assert len(message.delivered_at) == model.deliveries
        assert (json_value(message.cta)["action"].get("status") == "done") is model.done
        # A moment is there exactly when its flag is, and stays while the flag does.
        for flag in ("read", "seen", "archived"):
            moment = getattr(message, f"{flag}_at")
            assert (moment is not None) is getattr(message, flag)
            if getattr(before, flag) and getattr(message, flag):
                assert moment == getattr(before, f"{flag}_at")
        is_counted = not model.read and not model.archived and not model.snoozed
        assert message.counted_as == (None if not is_counted else "unread" if model.seen else "unseen")


@given(st.lists(st.sampled_from(ACTIONS), max_size=10), st.sampled_from(ACTIONS))
def test_an_action_that_is_repeated_changes_nothing(actions: list[str], last: str) -> None:
    message = NEW
    for action in actions:
        if action not in ("unsnooze", "wake") or message.snoozed_until is not None:
            message = act(message, action, START)
    if last in ("unsnooze", "wake"):
        return
    once = act(message, last, START)

    assert act(once, last, Millis(START + 5) if last != "snooze" else START) == once


def test_what_is_not_snoozed_cannot_be_unsnoozed() -> None:
    with pytest.raises(NotFound):
        state.unsnooze(NEW, START)


def test_a_message_that_is_snoozed_without_end_keeps_its_first_and_last_deliveries() -> None:
    message = NEW
    for number in range(1, 100):
        message = state.wake(message, Millis(START + number))

    assert message.delivered_at == [START, *(START + number for number in range(100 - MAX_DELIVERIES + 1, 100))]
