"""The shape of a workflow where something else is shown with it: a message, a preference."""

from typing import Self

from clarion.http.wire import Wire
from clarion.ids import id_text
from clarion.vocabulary import Severity
from clarion.workflows.model import Workflow


class WorkflowSummary(Wire):
    id: str
    identifier: str
    name: str
    critical: bool
    tags: list[str]
    severity: Severity

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        return cls(
            id=id_text(workflow.id),
            identifier=workflow.key,
            name=workflow.name,
            critical=workflow.is_critical,
            tags=workflow.tags,
            severity=workflow.severity,
        )
