"""Reads what a simulation is asked for."""

from clarion.clock import Millis
from clarion.errors import Invalid, Problem
from clarion.http.input_warnings import InputWarning
from clarion.ids import EnvironmentId
from clarion.simulate.model import DEFAULT_SPAN, MAX_SPAN, PreferenceOverrides, Scenario
from clarion.simulate.wire import SimulationIn
from clarion.triggers.reading import read_request


def read_scenario(environment_id: EnvironmentId, body: SimulationIn, now: Millis) -> Scenario:
    """The scenario that a body describes; raises Invalid with everything that is wrong."""
    request, problems = None, dict[str, list[Problem]]()
    warnings: list[InputWarning] = []
    try:
        request = read_request(environment_id, body, warnings)
    except Invalid as refusal:
        problems |= refusal.problems
    problems |= {one.path: [Problem(one.message)] for one in warnings}
    at = now if body.at is None else body.at.moment
    until = Millis(at + DEFAULT_SPAN) if body.until is None else body.until.moment
    if abs(at - now) > MAX_SPAN:
        problems["at"] = [Problem("must be within 366 days of now", body.at)]
    if not at <= until <= at + MAX_SPAN:
        problems["until"] = [Problem("must be at most 366 days after `at`, and not before it", body.until)]
    if body.steps is not None and body.version is not None:
        problems["version"] = [Problem("cannot be given together with steps", body.version)]
    if problems or request is None:
        raise Invalid(problems)
    return Scenario(
        request=request,
        now=now,
        at=at,
        until=until,
        limit=body.limit,
        overrides=PreferenceOverrides() if body.preferences is None else body.preferences.read(),
        steps=body.steps,
        version=body.version,
    )
