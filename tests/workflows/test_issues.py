"""Issues of saved steps, and their effect on the workflow's status."""

from typing import Any

import pytest

from clarion.clock import Millis
from clarion.vocabulary import StepType
from clarion.workflows.issues import IssueType, WorkflowStatus, find_issues, find_warnings, status_of
from clarion.workflows.model import Step, Variant
from clarion.workflows.step_wire import IssueTypeOut
from tests.workflows.support import CONTROLS

NOW = Millis(1_767_225_600_000)


def make_step(kind: str, controls: dict[str, Any] | None = None, **fields: Any) -> Step:
    return Step(
        id="019b76da-a800-7001-949c-836c491b4f94",
        step_id="one",
        name="One",
        type=StepType(kind),
        controls=CONTROLS[kind] if controls is None else controls,
        **fields,
    )


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_complete_step_has_no_issues(kind: str) -> None:
    assert find_issues(make_step(kind)) == []


@pytest.mark.parametrize(
    ("kind", "controls", "paths"),
    [
        ("in_app", {}, ["body"]),
        ("in_app", {"subject": "only that"}, []),
        ("email", {"body": "x"}, ["subject"]),
        ("email", {"subject": "", "body": None}, ["subject", "body"]),
        ("sms", {}, ["body"]),
        ("chat", {}, ["body"]),
        ("push", {"subject": "x"}, ["body"]),
        ("delay", {}, ["amount", "unit"]),
        ("delay", {"type": "timed"}, ["cron"]),
        ("delay", {"type": "scheduled"}, ["delayPath"]),
        ("delay", {"type": "dynamic"}, ["dynamicKey"]),
        ("digest", {"type": "timed"}, ["cron"]),
        ("digest", {"amount": 1}, ["unit"]),
        ("throttle", {"type": "dynamic"}, ["dynamicKey"]),
        ("throttle", {"threshold": 1}, ["amount", "unit"]),
        ("custom", {}, []),
    ],
)
def test_missing_content_is_an_issue(kind: str, controls: dict[str, Any], paths: list[str]) -> None:
    issues = find_issues(make_step(kind, controls))

    assert [issue.path for issue in issues] == paths
    assert {issue.type for issue in issues} <= {IssueType.MISSING_VALUE}


def test_a_link_that_no_inbox_follows_is_an_issue() -> None:
    controls = {
        "body": "x",
        "redirect": {"url": "javascript:alert(1)"},
        "primaryAction": {"redirect": {"url": "{{payload.url}}"}},
        "secondaryAction": {"redirect": {"url": "ftp://example.com"}},
    }

    found = [(issue.path, issue.type) for issue in find_issues(make_step("in_app", controls))]

    assert found == [
        ("redirect.url", IssueType.INVALID_URL),
        ("secondaryAction.redirect.url", IssueType.INVALID_URL),
    ]


@pytest.mark.parametrize(
    ("controls", "paths"),
    [
        ({"layoutId": "newsletter"}, []),
        ({"layoutId": None, "editorType": "html"}, []),
        ({"body": '{"type": "doc"}'}, ["body"]),
        ({"body": '{"type": "doc", "content": [{"type": "paragraf"}]}'}, ["body.content[0].type"]),
        ({"body": "<p>not closed", "editorType": "mjml"}, ["body"]),
        ({"body": "<mjml></mjml>", "editorType": "html"}, ["editorType"]),
        ({"from": {"email": "nobody"}, "replyTo": "x@"}, ["from.email", "replyTo"]),
        ({"from": "Ada <ada@example.com>", "cc": ["{{payload.cc}}"], "bcc": "a@example.com, b"}, ["bcc"]),
        ({"headers": {"X-Order": "1", "Subject": "x"}}, ["headers.Subject"]),
    ],
)
def test_what_an_email_step_asks_for_and_does_not_get_is_an_issue(controls: dict[str, Any], paths: list[str]) -> None:
    issues = find_issues(make_step("email", {"subject": "x", "body": "<p>x</p>", **controls}))

    assert [issue.path for issue in issues] == paths
    assert {issue.type for issue in issues} <= {IssueType.UNSUPPORTED_PROPERTY}
    assert all(len(issue.message) > 10 for issue in issues)


def test_variants_are_looked_at_too() -> None:
    step = make_step("sms", variants=[Variant(id="v", controls={"body": "x"}), Variant(id="w", controls={"more": 1})])

    assert [issue.path for issue in find_issues(step)] == ["variants.1.body"]
    assert [path for path, _ in find_warnings(step)] == ["variants.1.more"]


def test_stored_controls_that_cannot_be_read_are_an_issue() -> None:
    assert [issue.type for issue in find_issues(make_step("sms", {"body": 5}))] == [IssueType.UNSUPPORTED_PROPERTY]


def test_only_an_active_step_of_an_active_workflow_makes_an_error() -> None:
    whole, draft = make_step("sms"), make_step("sms", {})

    assert status_of(active=True, steps=[]) is WorkflowStatus.ACTIVE
    assert status_of(active=True, steps=[whole]) is WorkflowStatus.ACTIVE
    assert status_of(active=True, steps=[whole, draft]) is WorkflowStatus.ERROR
    assert status_of(active=True, steps=[make_step("sms", {}, active=False)]) is WorkflowStatus.ACTIVE
    assert status_of(active=False, steps=[draft]) is WorkflowStatus.INACTIVE


def test_stored_controls_that_do_not_fit_have_an_issue_for_each_field() -> None:
    variant = Variant(id="v", controls={"redirect": {"url": 5}})
    step = make_step("in_app", {"body": 5, "primaryAction": {"redirect": {}}}, variants=[variant])

    found = find_issues(step)

    assert [one.path for one in found] == ["body", "primaryAction.redirect.url", "variants.0.redirect.url"]
    assert {one.type for one in found} == {IssueType.UNSUPPORTED_PROPERTY}


@pytest.mark.parametrize("kind", IssueType)
def test_every_published_client_knows_the_kinds_of_issues(kind: IssueType) -> None:
    oldest = {"ILLEGAL_VARIABLE_IN_CONTROL_VALUE", "INVALID_FILTER_ARG_IN_VARIABLE", "MISSING_VALUE"}

    assert IssueTypeOut.of(kind).value in oldest
