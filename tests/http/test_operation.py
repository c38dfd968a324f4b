"""The options of an operation are compared with the parameters of its handler when it is declared."""

from collections.abc import Sequence
from typing import Any

import pytest

from clarion.errors import RequestError
from clarion.http.operation import Call, DetachedCall, Operation, Transaction, operation, operations_of
from clarion.http.responses import JsonResponse
from clarion.http.wire import Wire
from clarion.ids import TopicId
from clarion.monitoring import routes as monitoring_routes


class NameQuery(Wire):
    name: str | None = None


class NameIn(Wire):
    name: str


class NameOut(Wire):
    name: str


async def rename(call: Call, topic_id: TopicId, query: NameQuery, body: NameIn) -> JsonResponse[NameOut]:
    """Rename a topic."""
    raise NotImplementedError


async def read(call: Call) -> NameOut:
    raise NotImplementedError


async def fetch_elsewhere(call: DetachedCall, body: NameIn) -> NameOut:
    raise NotImplementedError


async def name_many(calls: Sequence[Call], bodies: Sequence[NameIn]) -> list[NameOut | RequestError]:
    raise NotImplementedError


async def name_many_or_fail(calls: Sequence[Call], bodies: Sequence[NameIn]) -> list[NameOut]:
    raise NotImplementedError


async def check_name(call: DetachedCall, body: NameIn) -> None:
    raise NotImplementedError


async def create(call: Call, body: NameIn) -> NameOut:
    raise NotImplementedError


def declare(method: str, path: str, handler: Any, **options: Any) -> Operation:
    declared: Operation = operation(method, path, public=True, **options)(handler).__dict__["operation"]
    return declared


def test_an_operation_has_what_its_options_and_its_handler_say() -> None:
    declared = declare("PATCH", "/topics/{topicId}", rename, query=NameQuery, body=NameIn, status=(200, 201))

    assert declared.path_kinds == (("topicId", TopicId),)
    assert (declared.query_shape, declared.body_shape, declared.result) == (NameQuery, NameIn, NameOut)
    assert (declared.transaction, declared.statuses, declared.tag) == (Transaction.WRITE, (200, 201), "Http")
    assert declared.summary == "Rename a topic."


@pytest.mark.parametrize(
    ("method", "given", "found"),
    [
        ("GET", None, Transaction.READ),
        ("GET", Transaction.SCAN, Transaction.SCAN),
        ("HEAD", None, Transaction.READ),
        ("POST", None, Transaction.WRITE),
    ],
)
def test_reads_and_writes_are_told_apart_by_the_method(
    method: str, given: Transaction | None, found: Transaction
) -> None:
    assert declare(method, "/names", read, transaction=given).transaction is found


def test_a_module_can_name_its_section_of_the_description() -> None:
    assert {declared.tag for declared in operations_of(monitoring_routes)} == {"Environments"}


def test_the_result_of_a_batched_operation_is_that_of_one_request() -> None:
    declared = declare("POST", "/names", name_many, body=NameIn, batched=True)

    assert (declared.body_shape, declared.result, declared.is_batched) == (NameIn, NameOut, True)


@pytest.mark.parametrize(
    ("method", "path", "handler", "options", "message"),
    [
        ("PATCH", "/topics", rename, {"query": NameQuery, "body": NameIn}, "takes .* but must take"),
        ("PATCH", "/{a}/{b}", rename, {"query": NameQuery, "body": NameIn}, "takes .* but must take"),
        ("PATCH", "/topics/{topicId}", rename, {"body": NameIn}, "takes .* but must take"),
        ("POST", "/names", create, {}, "takes .* but must take"),
        ("POST", "/names", create, {"body": NameQuery}, "'body' must be annotated as .*NameQuery"),
        ("POST", "/names", fetch_elsewhere, {"body": NameIn}, "'call' must be annotated as .*Call"),
        ("POST", "/names", create, {"body": NameIn, "transaction": Transaction.NONE}, "annotated as .*DetachedCall"),
        ("POST", "/names", create, {"body": NameIn, "precheck": read}, "read: takes"),
        ("POST", "/names", create, {"body": NameIn, "precheck": create}, "annotated as .*DetachedCall"),
        ("GET", "/names", read, {"transaction": Transaction.WRITE}, "GET cannot run in a write transaction"),
        ("POST", "/names", read, {"transaction": Transaction.SCAN}, "POST cannot run in a scan transaction"),
        ("POST", "/names", create, {"body": NameIn, "batched": True}, "must take .a call, bodies"),
        ("POST", "/{name}", name_many, {"body": NameIn, "batched": True}, "takes nothing but bodies"),
        ("POST", "/n", name_many, {"body": NameIn, "batched": True, "precheck": check_name}, "nothing but bodies"),
        ("POST", "/n", name_many, {"body": NameIn, "batched": True, "query": NameQuery}, "nothing but bodies"),
        ("POST", "/n", name_many_or_fail, {"body": NameIn, "batched": True}, r"must return list\[result"),
    ],
)
def test_options_that_do_not_fit_the_handler_are_refused(
    method: str, path: str, handler: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        declare(method, path, handler, **options)
