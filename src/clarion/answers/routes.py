"""Answers to questions of runs: the page that links in messages lead to, and the API for applications."""

from functools import partial
from typing import Final

from msgspec import Struct, UnsetType

from clarion.answers import page
from clarion.answers.actions import AlreadyAnswered, NoQuestion, QuestionClosed, WantedAnswer, give_answer
from clarion.answers.model import ANSWER_PATH, AnswerTarget, AnswerWay, RunAnswer, read_answer_target
from clarion.answers.page import AnswerPageReader
from clarion.answers.questions import RunQuestion, find_question
from clarion.answers.store import has_person
from clarion.answers.wire import RunAnswerIn, RunAnswerOut
from clarion.bus import Signal
from clarion.clock import iso_text
from clarion.content.environment import find_environment_content
from clarion.content.known_secrets import LinkSecrets
from clarion.db.port import Connection
from clarion.errors import AlreadyExists, Gone, Invalid, NotFound, RateLimited, RequestError
from clarion.http.input.forms import read_fields
from clarion.http.link_pages import respond_with_page
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.responses import PageResponse
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, NotificationId, SubscriberKey, find_id, id_text
from clarion.preferences.unsubscribe.targets import SAMPLE
from clarion.preferences.unsubscribe.texts import choose_language
from clarion.settings.rate_limits import LimitCategory
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import find_subscriber, list_subscribers_by_id
from clarion.vocabulary import Scope

SECTION = "Events"
_STATUSES = (200, 400, 404, 409, 410, 429)
_MAX_FORM: Final = 4_096
_MAX_FIELDS: Final = 10


class AnswerLinkQuery(Wire):
    token: str = ""
    """Of the link: whose answer to which question it is."""


class _AnswerVisit(Struct, frozen=True):
    """A request of somebody whose link is genuine."""

    call: DetachedCall
    environment_id: EnvironmentId
    target: AnswerTarget
    person: Subscriber
    reader: AnswerPageReader


_page_operation = partial(
    operation,
    path=ANSWER_PATH,
    public=True,
    status=_STATUSES,
    query=AnswerLinkQuery,
    transaction=Transaction.NONE,
    foreign=True,
)


@_page_operation("GET")
async def show_answer_page(call: DetachedCall, query: AnswerLinkQuery) -> PageResponse:
    """Show the page that `{{answers.<stepId>.<choice>}}` leads to; it changes nothing."""
    visit = await _visit(call, query.token)
    return visit if isinstance(visit, PageResponse) else await _show_question(visit)


@_page_operation("POST", body_limit=_MAX_FORM)
async def answer_by_link(call: DetachedCall, query: AnswerLinkQuery) -> PageResponse:
    """Give the answer of a link, by the form of its page; each question takes one answer."""
    visit = await _visit(call, query.token)
    return visit if isinstance(visit, PageResponse) else await _take_answer(visit)


@operation(
    "POST",
    "/v1/runs/{notificationId}/answers",
    scope=Scope.EVENTS_WRITE,
    status=201,
    body=RunAnswerIn,
    refusals=(409, 410),
    limit=LimitCategory.TRIGGER,
)
async def answer_question(call: Call, notification_id: str, body: RunAnswerIn) -> RunAnswerOut:
    """Answer a question of a run for somebody, in an application with an interface of its own."""
    run_id = find_id(notification_id)
    if run_id is None:
        raise NotFound("Run", notification_id)
    reply = WantedAnswer(
        run_id=NotificationId(run_id),
        reference=body.step_id,
        choice=body.choice,
        by=await _find_answerer(call, body),
        way=AnswerWay.API,
    )
    try:
        _, answer = await give_answer(call.db, call.environment_id, reply, vault=call.services.vault, now=call.now)
    except NoQuestion as problem:
        raise _name_missing(problem, notification_id, body) from None
    except AlreadyAnswered as problem:
        raise AlreadyExists(f"The question was answered at {iso_text(problem.answer.at)}") from None
    except QuestionClosed:
        raise Gone("The question takes no answer any more: its time is over, or its run has ended") from None
    call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    return RunAnswerOut.of(answer)


async def _find_answerer(call: Call, body: RunAnswerIn) -> Subscriber | None:
    if isinstance(body.by, UnsetType):
        return None
    person = await find_subscriber(call.db, call.environment_id, SubscriberKey(str(body.by)))
    if person is None:
        raise Invalid.field("by", "must be the subscriberId of a subscriber that exists", str(body.by))
    return person


def _name_missing(problem: NoQuestion, notification_id: str, body: RunAnswerIn) -> RequestError:
    match problem.missing:
        case "step":
            return Invalid.field("stepId", "must be the stepId of a step of the run that asks", body.step_id)
        case "choice":
            return Invalid.field("choice", f"must be one of {', '.join(problem.choices)}", body.choice)
    return NotFound("Run", notification_id)


async def _visit(call: DetachedCall, token: str) -> _AnswerVisit | PageResponse:
    """Who follows a link, or what they see instead."""
    call.response_headers.extend(page.HEADERS)
    accepted = call.request.headers.get(b"accept-language", b"").decode("latin-1")
    stranger = AnswerPageReader(choose_language(None, accepted, ""), token)
    if token == SAMPLE:
        return respond_with_page(200, page.render_notice(stranger, stranger.texts.title, stranger.texts.sample))
    secrets = call.services.shared.get(LinkSecrets)
    secret = await secrets.find(token, call.request.address, call.now)
    target = None if secret is None else read_answer_target(secret, token)
    if secret is None or target is None:
        secrets.note_failure(call.request.address, call.now)
        return _refuse(stranger)
    environment_id = secret.environment_id
    known = await call.database.read(partial(_find_person, call, environment_id=environment_id, target=target))
    if known is None:
        return _refuse(stranger)
    person, default_locale = known
    language = choose_language(person.locale, accepted, default_locale)
    reader = AnswerPageReader(language, token, _name_of(person), person.timezone)
    try:
        call.response_headers.extend(await call.services.limiter.admit(environment_id, LimitCategory.ALL))
    except RateLimited as refusal:
        call.response_headers.append((b"retry-after", str(refusal.retry_after).encode()))
        return respond_with_page(429, page.render_notice(reader, reader.texts.title, reader.link_texts.too_many))
    return _AnswerVisit(call, environment_id, target, person, reader)


async def _find_person(
    call: DetachedCall, db: Connection, environment_id: EnvironmentId, target: AnswerTarget
) -> tuple[Subscriber, str] | None:
    """Find whose link it is, with the language of the environment; None if they, or it, do not exist any more."""
    if not await has_person(db, environment_id, target.subscriber_id):
        return None
    people = await list_subscribers_by_id(db, environment_id, [target.subscriber_id])
    content = await find_environment_content(db, environment_id, vault=call.services.vault)
    return people[target.subscriber_id], content.default_locale


def _name_of(person: Subscriber) -> str:
    return " ".join(filter(None, (person.first_name, person.last_name))) or person.email or str(person.key)


async def _show_question(visit: _AnswerVisit) -> PageResponse:
    target, reader, now = visit.target, visit.reader, visit.call.now
    if target.expires_at <= now:
        return _say_expired(reader)
    find = partial(
        find_question,
        environment_id=visit.environment_id,
        run_id=target.run_id,
        reference=id_text(target.step_id),
        vault=visit.call.services.vault,
    )
    question = await visit.call.database.read(find)
    label = None if question is None else question.find_label(target.choice)
    if question is None or label is None:
        return _refuse(reader)
    if question.answer is not None:
        return _say_answered(visit, question, question.answer)
    if not question.is_open(now):
        return _say_closed(reader)
    return respond_with_page(200, page.render_confirmation(reader, question.text, label))


async def _take_answer(visit: _AnswerVisit) -> PageResponse:
    call, target, reader = visit.call, visit.target, visit.reader
    form = read_fields(call.request.headers, call.request.body, limit=_MAX_FIELDS)
    if form.get("action") != [page.ACTION]:
        return respond_with_page(400, page.render_notice(reader, reader.texts.title, reader.link_texts.not_read))
    if target.expires_at <= call.now:
        return _say_expired(reader)
    give = partial(
        give_answer,
        environment_id=visit.environment_id,
        reply=WantedAnswer.of_target(target, visit.person),
        vault=call.services.vault,
        now=call.now,
    )
    try:
        question, answer = await call.database.transaction(give)
    except NoQuestion:
        return _refuse(reader)
    except AlreadyAnswered as problem:
        return _say_answered(visit, problem.question, problem.answer)
    except QuestionClosed:
        return _say_closed(reader)
    call.services.bus.publish(Signal.WORK)
    return respond_with_page(200, page.render_given(reader, question.text, answer.label))


def _refuse(reader: AnswerPageReader) -> PageResponse:
    return respond_with_page(404, page.render_notice(reader, reader.link_texts.invalid, reader.texts.gone))


def _say_expired(reader: AnswerPageReader) -> PageResponse:
    return respond_with_page(410, page.render_notice(reader, reader.link_texts.invalid, reader.texts.expired))


def _say_closed(reader: AnswerPageReader) -> PageResponse:
    return respond_with_page(410, page.render_notice(reader, reader.texts.closed, reader.texts.too_late))


def _say_answered(visit: _AnswerVisit, question: RunQuestion, answer: RunAnswer) -> PageResponse:
    is_own = answer.subscriber_id == visit.person.id
    return respond_with_page(409, page.render_answered(visit.reader, question.text, answer, is_own=is_own))
