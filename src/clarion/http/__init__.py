"""The HTTP layer: typed operations, validation, errors, pages, idempotency and the API description."""
