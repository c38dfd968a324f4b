"""Who counts as a machine, and what is counted."""

import pytest

from clarion.clock import Millis
from clarion.tracking.model import (
    SCANNER_MILLIS,
    MachineReason,
    TrackingOptions,
    TrackingOverride,
    count_click,
    count_machine,
    count_open,
    decide_tracking,
    find_machine,
    refuses_tracking,
)
from tests.tracking.support import PERSON

PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"


@pytest.mark.parametrize("agent", [PERSON, PHONE, "Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36"])
def test_browsers_are_people(agent: str) -> None:
    assert find_machine("GET", {b"user-agent": agent.encode()}, age=SCANNER_MILLIS) is None


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("", MachineReason.USER_AGENT),
        ("curl/8.5.0", MachineReason.USER_AGENT),
        ("python-requests/2.32", MachineReason.USER_AGENT),
        ("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", MachineReason.USER_AGENT),
        ("Slackbot-LinkExpanding 1.0", MachineReason.USER_AGENT),
        ("Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/131.0", MachineReason.USER_AGENT),
        ("Mozilla/5.0", MachineReason.PREFETCH),
    ],
)
def test_programs_are_not(agent: str, reason: MachineReason) -> None:
    assert find_machine("GET", {b"user-agent": agent.encode()}, age=SCANNER_MILLIS) is reason


@pytest.mark.parametrize("name", ["purpose", "sec-purpose", "x-moz"])
def test_a_browser_that_looks_ahead_is_a_machine(name: str) -> None:
    headers = {b"user-agent": PERSON.encode(), name.encode(): b"prefetch;prerender"}

    assert find_machine("GET", headers, age=SCANNER_MILLIS) is MachineReason.PREFETCH


def test_nobody_reads_so_fast_except_by_the_proxy_that_loads_images_for_people() -> None:
    assert find_machine("GET", {b"user-agent": PERSON.encode()}, age=SCANNER_MILLIS - 1) is MachineReason.SCANNER
    assert find_machine("GET", {b"user-agent": GMAIL.encode()}, age=0) is None
    assert find_machine("HEAD", {b"user-agent": PERSON.encode()}, age=SCANNER_MILLIS) is MachineReason.PROBE


@pytest.mark.parametrize(
    ("options", "override", "is_critical", "expected"),
    [
        ((False, False), None, False, None),
        ((True, False), None, False, (True, False)),
        ((True, True), None, True, None),
        ((True, True), (None, True), True, (False, True)),
        ((True, True), (False, None), False, (False, True)),
        ((False, False), (True, None), False, (True, False)),
        ((True, True), (False, False), False, None),
    ],
)
def test_the_workflow_wins_over_the_environment(
    options: tuple[bool, bool],
    override: tuple[bool | None, bool | None] | None,
    expected: tuple[bool, bool] | None,
    *,
    is_critical: bool,
) -> None:
    own = None if override is None else TrackingOverride(opens=override[0], clicks=override[1])
    decided = decide_tracking(TrackingOptions(opens=options[0], clicks=options[1]), own, None, is_critical=is_critical)

    assert (None if decided is None else (decided.opens, decided.clicks)) == expected


@pytest.mark.parametrize(
    ("value", "refuses"), [(False, True), (" No ", True), ("off", True), (0, False), (None, False)]
)
def test_a_person_refuses_with_a_clear_no(value: object, *, refuses: bool) -> None:
    assert refuses_tracking({"tracking": value}) is refuses


def test_the_first_moment_is_the_earliest_in_any_order() -> None:
    late, early = Millis(2_000), Millis(1_000)

    for first, second in ((late, early), (early, late)):
        opened = count_open(count_open(None, first), second)
        clicked = count_click(count_click(opened, first), second)
        assert (clicked.open_count, clicked.first_opened_at) == (2, early)
        assert (clicked.click_count, clicked.first_clicked_at) == (2, early)
    assert count_machine(None).machine_count == 1
