"""The retry schedule of deliveries, and the secrets that sign."""

from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import DAY, Millis
from clarion.webhooks.model import (
    EVENT_DESCRIPTIONS,
    MAX_ATTEMPTS,
    RETRY_DELAYS,
    ROTATION_OVERLAP,
    DeliveryAttempt,
    EventType,
    SigningSecret,
    new_secret,
    next_attempt_at,
    rotate_secrets,
)

NOW = Millis(1_767_225_600_000)


@given(number=st.integers(1, MAX_ATTEMPTS - 1), patience=st.none() | st.integers(0, DAY // 1000))
def test_a_failed_attempt_is_followed_by_one_on_schedule_or_as_late_as_the_receiver_asks(
    number: int, patience: int | None
) -> None:
    due_at = next_attempt_at(number, DeliveryAttempt(error="down", status=503, retry_after_seconds=patience), NOW)

    pause = RETRY_DELAYS[number - 1]
    assert due_at is not None
    assert max(pause, (patience or 0) * 1000) <= due_at - NOW <= max(pause * 1.2, (patience or 0) * 1000)


def test_the_last_attempt_is_followed_by_none() -> None:
    assert next_attempt_at(MAX_ATTEMPTS, DeliveryAttempt(error="down"), NOW) is None


def test_a_receiver_that_is_gone_is_not_tried_again() -> None:
    assert next_attempt_at(1, DeliveryAttempt(error="gone", status=410), NOW) is None


def test_a_rotated_secret_signs_along_with_the_new_one_and_older_ones_do_not() -> None:
    first = new_secret()
    second, before = rotate_secrets([first], NOW)
    third, previous = rotate_secrets([second, before], Millis(NOW + 1))

    assert (before.text, before.until) == (first.text, NOW + ROTATION_OVERLAP)
    assert previous.text == second.text
    assert len({first.text, second.text, third.text}) == 3


def test_secrets_have_256_bits_and_do_not_print_themselves() -> None:
    secret = new_secret()

    assert len(secret.key) == 32
    assert secret.text.startswith("whsec_")
    assert secret.text not in repr(secret) + repr([SigningSecret(secret.text)])


def test_every_event_type_says_what_it_is() -> None:
    assert set(EVENT_DESCRIPTIONS) == set(EventType)
