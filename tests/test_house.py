"""Rules of the codebase that no other tool checks."""

import ast
import hashlib
import importlib
import pkgutil
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import grimp

import clarion
from clarion.cli import reference
from clarion.db.migrations.revisions import VERSIONS
from clarion.db.query import Query
from clarion.db.schema import metadata
from clarion.http.description.openapi import describe_api
from clarion.operations import OPERATIONS

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
GENERATED = ROOT / "web" / "api" / "schema.d.ts"
WEB_SOURCES = sorted(
    {path for kind in ("ts", "css", "mjs") for path in (ROOT / "web").glob(f"*/*.{kind}")} - {GENERATED}
)
MAX_FILE = 400
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}
REPEATED_CHOICE = re.compile(r"(?is)^\s*(?:UPDATE|DELETE)\b.*\bIN\s*\(\s*SELECT\b[^()]*\bLIMIT\b[^()]*\bFOR UPDATE\b")

# Statements across environments: authentication, the first start, expiry, locks, and all sealed secrets.
UNSCOPED = {
    "clarion.environments.configuration",
    "clarion.environments.link_secrets",
    "clarion.environments.store",
    "clarion.environments.variables.store",  # they belong to an organization
    "clarion.content.environment.FIND_ENVIRONMENT",
    "clarion.content.translations.languages",
    "clarion.http.idempotency.LOCK_KEYS",
    "clarion.http.idempotency.LIST_SEALED",
    "clarion.http.idempotency.UPDATE_BODY",
    "clarion.preferences.unsubscribe.actions.FIND_VERSION",
    "clarion.jobs.lanes._LOCK",
    "clarion.jobs.lanes._TRY_LOCK",
    "clarion.db.queue_plans._APPLY",
    "clarion.sending.claim._ENTER_CLAIM",
    "clarion.sending.claim._WAIT_FOR_CLAIMS",
    "clarion.engine.membership",
    "clarion.environments.deletion",
    "clarion.monitoring.heartbeat",
    "clarion.monitoring.status._DATABASE_BYTES",
    "clarion.db.migrations.revisions",
    "clarion.db.clock",
    "clarion.monitoring.doctor.processes.LIST_PROCESSES",
    "clarion.monitoring.doctor.processes.COUNT_WORKERS",
    "clarion.monitoring.doctor.store",
    "clarion.members.store",  # they belong to an organization
    "clarion.inbox.sockets.hosts",
    "clarion.inbox.sockets.presence.LIST_HOSTS",
    "clarion.db.leases",
    "clarion.retention.records.DELETE_RESPONSES",
}

# Stores that were migrated by them exist: what is to change comes in a new migration.
RELEASED_MIGRATIONS = {
    "0023_first_schema.py": "6d6564a9c43a7fec4c1969df977bc4bffae966cc6cfa92f5a3dd767add8f1a6b",
    "0023_first_schema.sql": "a42d1d5c28987176d7df65b43c9bc2488b4ca0002940daf9db31456d42d0af1d",
}

# Both names are part of the API: what an audit entry says was done, and a button of a message.
SHARED_NAMES = {"Action"}

EVERY_COLUMN = re.compile(r"SELECT \* FROM (?!\()(\w+)|\b[a-z]+\.\*,? .*?FROM (\w+)", re.DOTALL)

# They tell what is meant only where that stands beside them.
PRONOUNS = {"one", "found"}
MAX_PRONOUN_LINES = 2
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(clarion.__path__, "clarion."):
        if not found.name.endswith((".migrations.env", "__main__")):
            yield importlib.import_module(found.name)


def test_no_file_exceeds_the_maximum_length() -> None:
    files = [*SOURCES, *(ROOT / "tests").rglob("*.py"), *WEB_SOURCES]
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}

    assert {name: lines for name, lines in long.items() if lines > MAX_FILE} == {}


def test_every_module_has_a_docstring() -> None:
    undocumented = [
        str(path.relative_to(ROOT)) for path in SOURCES if not ast.get_docstring(ast.parse(path.read_text()))
    ]

    assert undocumented == []


def test_no_module_has_a_catch_all_name() -> None:
    assert [path.name for path in SOURCES if path.stem in FORBIDDEN_NAMES] == []


def list_queries() -> Iterator[tuple[str, Query]]:
    """Every query that a module has, with its full name."""
    for module in modules():
        for name, value in vars(module).items():
            for query in value if isinstance(value, tuple) else (value,):
                if isinstance(query, Query):
                    yield f"{module.__name__}.{name}", query


def test_every_query_is_scoped_to_an_environment() -> None:
    unscoped = [
        name
        for name, query in list_queries()
        if "environment_id" not in query.sqlite and not {name, name.rpartition(".")[0]} & UNSCOPED
    ]

    assert unscoped == []


def test_columns_of_tables_are_named() -> None:
    """A newer process may add columns while this one works, which has read how many there are."""
    tables = metadata.tables.keys()
    starred = {
        name
        for name, query in list_queries()
        for found in EVERY_COLUMN.finditer(query.sqlite)
        if (found[1] or found[2]) in tables and name != "clarion.db.migrations.revisions.READ_SCHEMA"
    }

    assert starred == set(), "use clarion.db.query.columns_of, or name them"


def test_rows_to_change_are_chosen_and_locked_once() -> None:
    """PostgreSQL may run such a subquery again for each row, which takes more rows than the limit."""
    repeated = [name for name, query in list_queries() if REPEATED_CHOICE.search(query.postgres)]

    assert repeated == [], "choose the rows in WITH … AS MATERIALIZED"


def test_one_class_name_stands_for_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))

    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED_NAMES} == {}


def list_own_names(scope: ast.AST) -> set[str]:
    """The names that a scope has for itself: the parameters of a function, the targets of a comprehension."""
    if isinstance(scope, COMPREHENSIONS):
        targets = [node for part in scope.generators for node in ast.walk(part.target)]
        return {node.id for node in targets if isinstance(node, ast.Name)}
    if isinstance(scope, FUNCTIONS):
        return {node.arg for node in ast.walk(scope.args) if isinstance(node, ast.arg)}
    return set()


def list_uses(node: ast.AST, name: str) -> Iterator[int]:
    """The lines in which a scope uses a name, without the inner scopes that have it for something else."""
    if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.arg) and node.arg == name):
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        if name not in list_own_names(child):
            yield from list_uses(child, name)


def test_pronouns_name_things_in_short_blocks_alone() -> None:
    long = []
    for path in SOURCES:
        for scope in ast.walk(ast.parse(path.read_text())):
            is_function = isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
            for name in PRONOUNS if is_function else list_own_names(scope) & PRONOUNS:
                lines = list(list_uses(scope, name))
                if lines and max(lines) - min(lines) >= MAX_PRONOUN_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{min(lines)} {name}")

    assert long == [], "name the thing"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("clarion", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    TopologicalSorter(imports).prepare()  # raises CycleError with the circle


def test_the_map_in_the_readme_names_every_room_once() -> None:
    readme = (ROOT / "README.md").read_text()
    lines = readme.partition("src/clarion/\n")[2].partition("\nweb/ ")[0].splitlines()
    named = [name for line in lines for name in re.findall(r"(?:^  |  )(\w+)/(?=  )", line)]
    rooms = [path.parent.name for path in (ROOT / "src" / "clarion").glob("*/__init__.py")]

    assert sorted(named) == sorted(rooms)


def test_routes_are_imported_by_the_list_of_operations_alone() -> None:
    importers = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.name != "operations.py" and ".routes" in path.read_text() and "import" in path.read_text()
    ]

    assert importers == []


def test_every_operation_has_a_summary_and_a_unique_name() -> None:
    assert [one.path for one in OPERATIONS if not one.summary] == []
    assert len({one.handler.__name__ for one in OPERATIONS}) == len(OPERATIONS)


def test_generated_documents_are_current() -> None:
    assert reference.OPENAPI.read_bytes() == describe_api(OPERATIONS), "run `make docs`"
    assert reference.README.read_text() == reference.with_settings_table(reference.README.read_text()), (
        "run `make docs`"
    )
    assert reference.SECURITY.read_text() == reference.with_access_tables(reference.SECURITY.read_text()), (
        "run `make docs`"
    )


def test_released_migrations_do_not_change() -> None:
    hashes = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VERSIONS.iterdir()
        if path.name in RELEASED_MIGRATIONS
    }

    assert hashes == RELEASED_MIGRATIONS
