"""Which modules are mutated, and which tests have to notice."""

ENGINE = "src/clarion/engine/"

# The tests most likely to notice come first: the rest is not run then.
_TESTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        f"{ENGINE}sending/",
        (
            "tests/engine/sending",
            "tests/engine/test_cancel.py",
            "tests/deadletters",
            "tests/engine/test_store_out.py",
            "tests/receipts",
            "tests/hostile/test_leases.py",
        ),
    ),
    (f"{ENGINE}cancel.py", ("tests/engine/test_cancel.py", "tests/engine/test_time.py", "tests/engine")),
    (f"{ENGINE}poison.py", ("tests/engine/test_poison.py", "tests/engine/test_fairness.py", "tests/engine")),
    (f"{ENGINE}webhook_", ("tests/webhooks",)),
    (
        f"{ENGINE}steps/",
        (
            "tests/engine/test_details.py",
            "tests/engine/test_time.py",
            "tests/engine/test_runs.py",
            "tests/engine/sending",
            "tests/engine",
        ),
    ),
    (
        ENGINE,
        (
            "tests/engine/test_runs.py",
            "tests/engine/test_time.py",
            "tests/engine/test_recipients.py",
            "tests/engine/test_digest_property.py",
            "tests/engine/test_workers.py",
            "tests/engine",
            "tests/hostile/test_stored.py",
        ),
    ),
    (
        "src/clarion/jobs/",
        (
            "tests/jobs",
            "tests/engine/test_time.py",
            "tests/engine/test_runs.py",
            "tests/engine/test_cancel.py",
            "tests/engine",
            "tests/deadletters",
            "tests/receipts",
            "tests/notifications",
            "tests/hostile/test_stored.py",
        ),
    ),
    (
        "src/clarion/triggers/",
        (
            "tests/triggers/test_model.py",
            "tests/engine/test_runs.py",
            "tests/triggers",
            "tests/engine",
            "tests/hostile/test_stored.py",
        ),
    ),
    (
        "src/clarion/preferences/",
        (
            "tests/preferences",
            "tests/webhooks/test_events.py",
            "tests/engine/test_runs.py",
            "tests/engine/test_time.py",
            "tests/engine/sending",
        ),
    ),
    ("src/clarion/conditions/", ("tests/conditions",)),
    ("src/clarion/schedules/", ("tests/schedules", "tests/engine/test_time.py")),
    ("src/clarion/http/idempotency.py", ("tests/http/test_idempotency.py", "tests/http/test_stored_responses.py")),
    ("src/clarion/providers/transport/egress.py", ("tests/providers/transport/test_egress.py",)),
    (
        "src/clarion/vault.py",
        ("tests/test_vault.py", "tests/integrations/test_secrets.py", "tests/inbox/test_tokens.py"),
    ),
)
MODULES = tuple(dict.fromkeys(prefix for prefix, _ in _TESTS))


def find_tests(module: str) -> tuple[str, ...]:
    """The tests of a module, by the first entry that fits."""
    return next(tests for prefix, tests in _TESTS if module.startswith(prefix))
