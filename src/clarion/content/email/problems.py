"""What is wrong with the body of an e-mail."""

from msgspec import Struct


class BodyProblem(Struct, frozen=True):
    """What is wrong with the body of an e-mail; a warning does not keep it from being sent."""

    path: str
    """In the controls, such as `body.content[3].type`."""
    message: str
    is_warning: bool = False
    is_template: bool = False
    """Whether Liquid in it is wrong."""

    def __str__(self) -> str:
        return f"{self.path} {self.message}"
