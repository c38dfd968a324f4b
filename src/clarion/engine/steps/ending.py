"""Exit: the run ends here, whatever comes after the step."""

from clarion.engine.steps.decision import Ended, StepContext, StepOutcome
from clarion.jobs.details import DetailCode
from clarion.templates import render_text
from clarion.workflows.controls import ExitControls


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(ExitControls)
    reason = render_text(controls.reason, context.variables) if controls.reason else None
    context.note(DetailCode.RUN_ENDED, raw=None if reason is None else {"reason": reason})
    return Ended(reason=DetailCode.STEP_AFTER_END, outputs={})
