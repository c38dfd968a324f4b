"""Every text that the engine records as an execution detail is known to the explanations."""

import ast
from collections.abc import Iterator
from pathlib import Path

import clarion
from clarion.explain.model import DecisionKind
from clarion.explain.rules.registry import CODES, RULES
from clarion.jobs.details import DetailCode

SOURCE = Path(clarion.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
# Which argument is the text: of `context.note(status, text)`, of `job.note(now, status, text)`.
_STATUS = "DetailStatus"
_PLACES = {"_close": 3, "_warning": 1}
# Passes on what its callers give it.
_FORWARDING = {
    ("engine/steps/context.py", "text"),
    ("jobs/model.py", "text"),
    ("engine/advance.py", "reason"),
    ("receipts/actions.py", "text"),
}


class _Module:
    """The texts that one module records."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(SOURCE).as_posix()
        self.tree = ast.parse(path.read_text())

    def texts(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                argument = _text_argument(node)
                if argument is not None:
                    yield from self._resolve(argument)

    def _resolve(self, node: ast.expr) -> Iterator[str]:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.IfExp(body=first, orelse=second):
                yield from self._resolve(first)
                yield from self._resolve(second)
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
                if (self.name, name) not in _FORWARDING:
                    found = list(self._assigned(name))
                    assert found, f"{self.name}: nothing says what {name} may be"
                    yield from found
            case _:
                raise AssertionError(f"{self.name}:{node.lineno}: a text that this test cannot read")

    def _assigned(self, name: str) -> Iterator[str]:
        """All texts that are ever assigned to a name, also in a pair, in a mapping or in another module."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    yield from _texts_of(value, self)
                case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                    yield from _texts_of(value, self)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                    for place, one in enumerate(names):
                        if isinstance(one, ast.Name) and one.id == name:
                            yield from _texts_of(value.elts[place] if isinstance(value, ast.Tuple) else value, self)
                case ast.ImportFrom(module=str(module), names=names) if any(one.name == name for one in names):
                    path = SOURCE.parent / f"{module.replace('.', '/')}.py"
                    yield from _Module(path)._assigned(name)


def _texts_of(value: ast.expr, module: _Module) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Dict(values=values):
            for one in values:
                yield from _texts_of(one, module)
        case ast.Tuple(elts=elements):
            for one in elements:
                yield from _texts_of(one, module)
        case ast.IfExp(body=first, orelse=second):
            yield from _texts_of(first, module)
            yield from _texts_of(second, module)
        case ast.Subscript(value=ast.Name(id=name)):
            yield from module._assigned(name)


def _text_argument(call: ast.Call) -> ast.expr | None:
    """The argument of a call that is the text of an execution detail, if the call records one."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function == "ExecutionDetail":
        return next(one.value for one in call.keywords if one.arg == "detail")
    if function in _PLACES:
        return call.args[_PLACES[function]]
    if function != "note":
        return None
    for place, argument in enumerate(call.args):
        if isinstance(argument, ast.Attribute) and getattr(argument.value, "id", "") == _STATUS:
            return call.args[place + 1]
    return None


def recorded_texts() -> set[str]:
    folders = [SOURCE / name for name in ("engine", "jobs", "receipts", "deadletters", "messages")]
    return {text for folder in folders for path in sorted(folder.rglob("*.py")) for text in _Module(path).texts()}


def test_each_recorded_text_has_a_rule_and_each_rule_a_text() -> None:
    texts = recorded_texts()

    assert texts - RULES.keys() == set()
    # It is the text of messages, while the detail says that the person has no channel.
    unused = {
        "Webhook URL for the chat channel is missing",
        "Subscriber credentials is missing the tokens for sending a push notification message",
    }
    assert RULES.keys() - texts <= unused
    assert len(texts) > 50


def test_each_code_has_a_rule() -> None:
    assert CODES.keys() == set(DetailCode)


def test_each_kind_of_decision_has_a_section_in_the_documentation() -> None:
    text = (DOCS / "explain.md").read_text()

    missing = [kind for kind in DecisionKind if f"\n### {kind}\n" not in text]
    assert missing == []
