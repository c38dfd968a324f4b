"""The description of the API (OpenAPI) and its pages, made from the operations."""
