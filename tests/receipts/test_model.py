"""The effects of reports on a message, in any order and any batches."""

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import DAY, Millis
from clarion.ids import EnvironmentId, IntegrationId
from clarion.integrations.model import Integration
from clarion.providers.definition.receipts import Receipt, ReceiptKind
from clarion.receipts.model import (
    MAX_DELIVERIES,
    DeliveryReport,
    MessageState,
    ReportedMessage,
    apply_report,
    find_dead_token,
    find_suppressed_address,
    is_about_copy,
    is_about_message,
    read_report,
)
from clarion.sending.suppressions.model import SuppressionReason
from clarion.vocabulary import Channel, MessageStatus
from tests.records import NOW

SENT = MessageState(status=MessageStatus.SENT, delivery={}, delivered_at=(NOW,))
REFUSED = MessageState(status=MessageStatus.ERROR, error_text="Timed out", delivery={})
_numbers = itertools.count()

INTEGRATION = Integration(
    environment_id=EnvironmentId(bytes(16)),
    id=IntegrationId(bytes(16)),
    provider_id="sendgrid",
    channel=Channel.EMAIL,
    name="Mail",
    identifier="mail",
    credentials={},
    conditions=[],
    active=True,
    is_primary=True,
    priority=1,
    created_at=NOW,
    updated_at=NOW,
)


def make_receipt(kind: str = "delivered", **fields: Any) -> Receipt:
    return Receipt(kind=ReceiptKind(kind), **fields)


def make_report(kind: str = "delivered", *, after: int = 0, **fields: Any) -> DeliveryReport:
    fields = {"event_id": str(next(_numbers)), "at": Millis(NOW + after)} | fields
    return read_report(make_receipt(kind, **fields), INTEGRATION, lambda raw: raw, Millis(NOW + DAY))


def make_reported_message(channel: Channel = Channel.EMAIL, **fields: Any) -> ReportedMessage:
    base: dict[str, Any] = {
        "id": bytes(16),
        "job_id": bytes(16),
        "workflow_id": bytes(16),
        "subscriber_id": bytes(16),
        "integration_id": INTEGRATION.id,
        "email": "ada@example.org",
        "phone": "+44 20 7946 0000",
        "state": SENT,
    }
    return ReportedMessage(channel=channel, **base | fields)


def apply_reports(state: MessageState, *reports: DeliveryReport) -> MessageState:
    for report in reports:
        state = apply_report(state, report)
    return state


reports = st.builds(
    make_report,
    st.sampled_from([str(kind) for kind in ReceiptKind]),
    after=st.integers(0, 4),
    reason=st.sampled_from([None, "a", "b"]),
)


@given(st.lists(reports, max_size=8).flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_the_same_reports_make_the_same_of_a_message_in_any_order(
    orders: tuple[list[DeliveryReport], list[DeliveryReport]],
) -> None:
    given_order, another = orders
    for before in (SENT, REFUSED):
        assert apply_reports(before, *given_order) == apply_reports(before, *another)


@given(st.lists(reports, max_size=8))
def test_only_failures_make_an_error_and_only_errors_have_a_text(made: list[DeliveryReport]) -> None:
    state = apply_reports(SENT, *made)

    failed = any(one.kind in (ReceiptKind.BOUNCED, ReceiptKind.FAILED) for one in made)
    assert failed or state.status is MessageStatus.SENT
    is_error = state.status is MessageStatus.ERROR
    assert is_error == (state.error_id is not None) == (state.error_text is not None)


def test_a_bounce_after_delivery_is_an_error() -> None:
    state = apply_reports(SENT, make_report("delivered"), make_report("bounced", after=1, reason="No such user"))

    assert (state.status, state.error_id, state.error_text) == ("error", "bounced", "No such user")


def test_delivery_after_a_bounce_is_a_success() -> None:
    state = apply_reports(SENT, make_report("delivered", after=1), make_report("bounced", reason="Mailbox full"))

    assert (state.status, state.error_id, state.error_text) == ("sent", None, None)


def test_who_opens_a_message_has_it() -> None:
    assert apply_reports(REFUSED, make_report("opened")).status is MessageStatus.SENT


def test_what_says_nothing_of_success_leaves_the_status_alone() -> None:
    for kind in ("sent", "deferred", "complained", "unsubscribed"):
        state = apply_report(REFUSED, make_report(kind))
        assert (state.status, state.error_text) == (REFUSED.status, REFUSED.error_text)


def test_moments_of_delivery_are_kept_up_to_a_number() -> None:
    many = [make_report("delivered", after=number) for number in range(1, MAX_DELIVERIES + 2)]

    moments = apply_reports(SENT, *many).delivered_at

    assert (len(moments), moments[-1]) == (MAX_DELIVERIES, NOW + MAX_DELIVERIES + 1)


def test_impossible_moments_are_now() -> None:
    for at in (None, Millis(-5), Millis(0), Millis(10**30)):
        assert read_report(make_receipt(at=at), INTEGRATION, lambda raw: raw, NOW).at == NOW


def test_an_event_is_the_same_event_for_the_same_person_of_the_same_integration() -> None:
    def digest(**fields: Any) -> bytes:
        return read_report(make_receipt(**fields), INTEGRATION, lambda raw: raw, NOW).digest

    assert digest(event_id="1", recipient="ada") == digest(event_id="1", recipient="ada", raw={"try": 2})
    assert digest(event_id="1", recipient="ada") != digest(event_id="1", recipient="bob")
    assert digest(raw={"a": 1}) == digest(raw={"a": 1}) != digest(raw={"a": 2})


def test_texts_of_providers_are_cut_and_can_be_stored() -> None:
    report = make_report("bounced", reason="no\0" + "x" * 9_000, recipient="a\0b", raw={"log": ["y" * 900] * 90})

    assert "\0" not in f"{report.reason}{report.recipient}"
    assert len(report.reason or "") == 400
    assert len(report.detail) < 5_000


def test_hard_bounces_complaints_and_unsubscribes_suppress_the_address() -> None:
    mail, text = make_reported_message(), make_reported_message(Channel.SMS)

    assert find_suppressed_address(mail, make_report("bounced", is_hard=True)) == (
        "ada@example.org",
        SuppressionReason.BOUNCED,
    )
    assert find_suppressed_address(mail, make_report("complained")) == ("ada@example.org", SuppressionReason.COMPLAINED)
    assert find_suppressed_address(text, make_report("unsubscribed", recipient="020 7946 0000")) == (
        "442079460000",
        SuppressionReason.UNSUBSCRIBED,
    )


def test_other_reports_suppress_nobody() -> None:
    for kind in ("bounced", "failed", "deferred", "delivered", "opened"):
        assert find_suppressed_address(make_reported_message(), make_report(kind)) is None
    for channel in (Channel.CHAT, Channel.PUSH):
        assert find_suppressed_address(make_reported_message(channel), make_report("bounced", is_hard=True)) is None


def test_a_report_about_a_copy_suppresses_whoever_was_sent_the_copy() -> None:
    mail, report = make_reported_message(), make_report("bounced", is_hard=True, recipient="Grace@Example.org")

    assert is_about_copy(mail, report)
    assert find_suppressed_address(mail, report) == ("grace@example.org", SuppressionReason.BOUNCED)
    assert not is_about_copy(mail, make_report("bounced", recipient="Ada <ADA@example.org>"))
    assert not is_about_copy(make_reported_message(Channel.SMS), make_report("bounced", recipient="someone"))


def test_a_try_that_was_given_up_for_another_integration_is_not_what_became_of_the_message() -> None:
    report = make_report("bounced")

    assert is_about_message(make_reported_message(), report, INTEGRATION)
    assert is_about_message(make_reported_message(integration_id=None), report, INTEGRATION)
    assert not is_about_message(
        make_reported_message(integration_id=IntegrationId(bytes([1] * 16))), report, INTEGRATION
    )


def test_a_hard_bounce_of_a_push_names_a_dead_token() -> None:
    push = make_reported_message(Channel.PUSH)

    assert find_dead_token(push, make_report("bounced", is_hard=True, recipient="token-1")) == "token-1"
    assert find_dead_token(push, make_report("failed", recipient="token-1")) is None
    assert find_dead_token(make_reported_message(), make_report("bounced", is_hard=True, recipient="token-1")) is None
