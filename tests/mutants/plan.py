"""Which modules are mutated, and which tests have to notice.

The tests of a module are those of its room: `tests/` has the folders of `src/clarion/`.
"""

from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
TESTS = PurePosixPath("tests")

MODULES = (
    "src/clarion/engine/",
    "src/clarion/sending/",
    "src/clarion/jobs/",
    "src/clarion/triggers/",
    "src/clarion/preferences/",
    "src/clarion/conditions/",
    "src/clarion/times/",
    "src/clarion/http/idempotency.py",
    "src/clarion/providers/transport/egress.py",
    "src/clarion/webhooks/sender.py",
    "src/clarion/vault.py",
)

# Tests of other rooms that notice faults, by the beginning of a path below `src/clarion/`; the first entry counts.
OTHER_TESTS = {
    "engine/write.py": ("tests/webhooks", "tests/hostile/test_stored.py"),
    "sending/": ("tests/engine/test_cancel.py", "tests/receipts", "tests/hostile/test_leases.py"),
    "engine/": ("tests/hostile/test_stored.py",),
    "jobs/": ("tests/engine", "tests/sending", "tests/receipts", "tests/hostile/test_stored.py"),
    "triggers/": ("tests/engine", "tests/hostile/test_stored.py"),
    "preferences/": ("tests/webhooks/test_events.py", "tests/engine"),
    "times/": ("tests/engine/test_time.py",),
    "http/idempotency.py": ("tests/http/test_stored_responses.py",),
    "vault.py": ("tests/integrations/test_secrets.py", "tests/inbox/test_tokens.py"),
}


def find_tests(module: str) -> tuple[str, ...]:
    """The tests of a module, the most likely to notice first, because the rest is not run then.

    They are `test_<module>.py`, the nearest folder that is named like one of the module's, and those of other rooms.
    """
    path = PurePosixPath(module).relative_to("src/clarion")
    own = TESTS / path.with_name(f"test_{path.name}")
    folders = [TESTS / folder for folder in path.parents if (ROOT / TESTS / folder).is_dir() and folder.name]
    found = [str(one) for one in (own, *folders[:1]) if (ROOT / one).exists()]
    others = next((tests for prefix, tests in OTHER_TESTS.items() if path.as_posix().startswith(prefix)), ())
    if not found and not others:
        raise ValueError(f"{module} has no tests in a folder of the same name; name some in tests/mutants/plan.py")
    return tuple(dict.fromkeys((*found, *others)))
