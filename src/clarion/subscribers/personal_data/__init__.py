"""A person's data: what is stored of them in all tables, its export, and its erasure."""
