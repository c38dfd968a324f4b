"""The API description, made once in a test process."""

import json
from typing import Any

from clarion.http.description.openapi import describe_api
from clarion.operations import OPERATIONS

DESCRIPTION: dict[str, Any] = json.loads(describe_api(OPERATIONS))
