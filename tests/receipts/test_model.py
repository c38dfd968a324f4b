"""What reports make of a message, in whatever order and portions they come."""

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
    Addressee,
    Report,
    Standing,
    dead_token,
    is_about_copy,
    is_of_message,
    read_report,
    settle,
    suppressed_address,
)
from clarion.suppressions.model import SuppressionReason
from clarion.vocabulary import Channel, MessageStatus
from tests.records import NOW

SENT = Standing(status=MessageStatus.SENT, delivery={}, delivered_at=(NOW,))
REFUSED = Standing(status=MessageStatus.ERROR, error_text="Timed out", delivery={})
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


def make_report(kind: str = "delivered", *, after: int = 0, **fields: Any) -> Report:
    fields = {"event_id": str(next(_numbers)), "at": Millis(NOW + after)} | fields
    return read_report(make_receipt(kind, **fields), INTEGRATION, lambda raw: raw, Millis(NOW + DAY))


def make_addressee(channel: Channel = Channel.EMAIL, **fields: Any) -> Addressee:
    base: dict[str, Any] = {
        "id": bytes(16),
        "job_id": bytes(16),
        "subscriber_id": bytes(16),
        "integration_id": INTEGRATION.id,
        "email": "ada@example.org",
        "phone": "+44 20 7946 0000",
        "standing": SENT,
    }
    return Addressee(channel=channel, **base | fields)


def settle_all(standing: Standing, *reports: Report) -> Standing:
    for report in reports:
        standing = settle(standing, report)
    return standing


reports = st.builds(
    make_report,
    st.sampled_from([str(kind) for kind in ReceiptKind]),
    after=st.integers(0, 4),
    reason=st.sampled_from([None, "a", "b"]),
)


@given(st.lists(reports, max_size=8).flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_the_same_reports_make_the_same_of_a_message_in_any_order(orders: tuple[list[Report], list[Report]]) -> None:
    given_order, another = orders
    for before in (SENT, REFUSED):
        assert settle_all(before, *given_order) == settle_all(before, *another)


@given(st.lists(reports, max_size=8))
def test_only_failures_make_an_error_and_only_errors_have_a_text(made: list[Report]) -> None:
    standing = settle_all(SENT, *made)

    failed = any(one.kind in (ReceiptKind.BOUNCED, ReceiptKind.FAILED) for one in made)
    assert failed or standing.status is MessageStatus.SENT
    is_error = standing.status is MessageStatus.ERROR
    assert is_error == (standing.error_id is not None) == (standing.error_text is not None)


def test_a_bounce_after_delivery_is_an_error() -> None:
    standing = settle_all(SENT, make_report("delivered"), make_report("bounced", after=1, reason="No such user"))

    assert (standing.status, standing.error_id, standing.error_text) == ("error", "bounced", "No such user")


def test_delivery_after_a_bounce_is_a_success() -> None:
    standing = settle_all(SENT, make_report("delivered", after=1), make_report("bounced", reason="Mailbox full"))

    assert (standing.status, standing.error_id, standing.error_text) == ("sent", None, None)


def test_who_opens_a_message_has_it() -> None:
    assert settle_all(REFUSED, make_report("opened")).status is MessageStatus.SENT


def test_what_says_nothing_of_success_leaves_the_status_alone() -> None:
    for kind in ("sent", "deferred", "complained", "unsubscribed"):
        standing = settle(REFUSED, make_report(kind))
        assert (standing.status, standing.error_text) == (REFUSED.status, REFUSED.error_text)


def test_moments_of_delivery_are_kept_up_to_a_number() -> None:
    many = [make_report("delivered", after=number) for number in range(1, MAX_DELIVERIES + 2)]

    moments = settle_all(SENT, *many).delivered_at

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
    mail, text = make_addressee(), make_addressee(Channel.SMS)

    assert suppressed_address(mail, make_report("bounced", is_hard=True)) == (
        "ada@example.org",
        SuppressionReason.BOUNCED,
    )
    assert suppressed_address(mail, make_report("complained")) == ("ada@example.org", SuppressionReason.COMPLAINED)
    assert suppressed_address(text, make_report("unsubscribed", recipient="020 7946 0000")) == (
        "442079460000",
        SuppressionReason.UNSUBSCRIBED,
    )


def test_other_reports_suppress_nobody() -> None:
    for kind in ("bounced", "failed", "deferred", "delivered", "opened"):
        assert suppressed_address(make_addressee(), make_report(kind)) is None
    for channel in (Channel.CHAT, Channel.PUSH):
        assert suppressed_address(make_addressee(channel), make_report("bounced", is_hard=True)) is None


def test_a_report_about_a_copy_suppresses_whoever_was_sent_the_copy() -> None:
    mail, report = make_addressee(), make_report("bounced", is_hard=True, recipient="Grace@Example.org")

    assert is_about_copy(mail, report)
    assert suppressed_address(mail, report) == ("grace@example.org", SuppressionReason.BOUNCED)
    assert not is_about_copy(mail, make_report("bounced", recipient="Ada <ADA@example.org>"))
    assert not is_about_copy(make_addressee(Channel.SMS), make_report("bounced", recipient="someone"))


def test_a_try_that_was_given_up_for_another_integration_is_not_what_became_of_the_message() -> None:
    report = make_report("bounced")

    assert is_of_message(make_addressee(), report, INTEGRATION)
    assert is_of_message(make_addressee(integration_id=None), report, INTEGRATION)
    assert not is_of_message(make_addressee(integration_id=IntegrationId(bytes([1] * 16))), report, INTEGRATION)


def test_a_hard_bounce_of_a_push_names_a_dead_token() -> None:
    push = make_addressee(Channel.PUSH)

    assert dead_token(push, make_report("bounced", is_hard=True, recipient="token-1")) == "token-1"
    assert dead_token(push, make_report("failed", recipient="token-1")) is None
    assert dead_token(make_addressee(), make_report("bounced", is_hard=True, recipient="token-1")) is None
