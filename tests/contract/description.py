"""The API description, made once in a test process."""

import json
from typing import Any

from clarion.app import OPERATIONS
from clarion.http.description.openapi import describe_api

DESCRIPTION: dict[str, Any] = json.loads(describe_api(OPERATIONS))
