"""Small faults that are put into a module, one at a time, to see whether a test notices."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

from msgspec import Struct

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
# What a log says is no behaviour.
_NO_BEHAVIOUR = ("log.", "logging.")


class Mutant(Struct, frozen=True):
    """A module with one fault."""

    id: str
    """The module, the operator and the code before and after: the same as long as the code is."""
    module: str
    line: int
    make_source: Callable[[], str]

    @property
    def source(self) -> str:
        """The whole module with the fault; made on demand, because most mutants of a large module are not tried."""
        return self.make_source()


class _Fault(Struct, frozen=True):
    node: ast.AST
    operator: str
    change: Callable[[ast.AST], ast.AST]
    """From a copy of the node to what takes its place."""


def list_mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of their places."""
    tree = ast.parse(source)
    faults = sorted(_list_faults(tree), key=lambda one: (one.node.lineno, one.node.col_offset))  # type: ignore[attr-defined]
    seen: Counter[str] = Counter()
    mutants = []
    for fault in faults:
        changed = fault.change(deepcopy(fault.node))
        name = f"{module} | {fault.operator} | {_short(fault.node)} -> {_short(changed)}"
        seen[name] += 1
        ordinal = f" #{seen[name]}" if seen[name] > 1 else ""
        line: int = fault.node.lineno  # type: ignore[attr-defined]
        mutants.append(Mutant(name + ordinal, module, line, partial(_unparse, tree, fault.node, changed)))
    return mutants


def _list_faults(tree: ast.Module) -> Iterator[_Fault]:
    for node in _walk(tree):
        yield from _of_expression(node)
        yield from _of_statement(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: neither annotations nor logging, nor what makes a class a frozen record."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params") or _is_class_option(node, name):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_logging(child):
                yield from _walk(child)


def _is_class_option(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.ClassDef) and name == "keywords"


def _is_logging(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith(_NO_BEHAVIOUR)


def _of_expression(node: ast.AST) -> Iterator[_Fault]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _FLIPPED:
            yield _Fault(node, "comparison", _flip)
        case ast.BoolOp():
            yield _Fault(node, "and/or", _swap)
        case ast.UnaryOp(op=ast.Not()):
            yield _Fault(node, "negation", lambda one: one.operand)  # type: ignore[attr-defined]
        case ast.Constant(value=bool(value)):
            yield _Fault(node, "constant", lambda _: ast.Constant(not value))
        case ast.Constant(value=int(number)):
            yield _Fault(node, "constant", lambda _: ast.Constant(number + 1))


def _of_statement(node: ast.AST) -> Iterator[_Fault]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if isinstance(
            test, ast.Name | ast.Attribute | ast.Call | ast.Await | ast.BoolOp
        ):
            yield _Fault(test, "negation", lambda one: ast.UnaryOp(ast.Not(), one))  # type: ignore[arg-type]
        case ast.Return(value=ast.Compare() | ast.BoolOp()):
            for answer in (True, False):
                yield _Fault(node, "return", partial(_answer, answer))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield _Fault(node, "return", lambda _: ast.Return(ast.Constant(None)))
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())) | ast.AugAssign():
            yield _Fault(node, "removal", lambda _: ast.Pass())


def _answer(answer: bool, _: ast.AST) -> ast.AST:
    return ast.Return(ast.Constant(answer))


def _flip(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops = [_FLIPPED[type(node.ops[0])]()]
    return node


def _swap(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _unparse(tree: ast.Module, node: ast.AST, changed: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(_replace(tree, node, changed)))


def _replace(tree: ast.Module, node: ast.AST, changed: ast.AST) -> ast.Module:
    """A copy of the module with another node in the place of one."""
    place = next(number for number, one in enumerate(ast.walk(tree)) if one is node)
    copy = deepcopy(tree)
    target = next(one for number, one in enumerate(ast.walk(copy)) if number == place)

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return changed if node is target else self.generic_visit(node)

    result = Replace().visit(copy)
    assert isinstance(result, ast.Module)
    return result


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:100]
