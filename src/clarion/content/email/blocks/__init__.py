"""Block documents: the JSON of the block editor, compiled to a template over HTML that mail programs show."""
