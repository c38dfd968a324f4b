"""Custom: its controls, rendered, are what later steps see of it."""

from clarion.engine.outcomes import Done, StepOutcome
from clarion.engine.steps.context import StepContext
from clarion.jobs.details import DetailCode
from clarion.templates import render_value


async def decide(context: StepContext) -> StepOutcome:
    values = {name: value for name, value in context.controls.items() if name != "skip"}
    context.note(DetailCode.STEP_COMPLETED)
    return Done(outputs=render_value(values, context.variables))
