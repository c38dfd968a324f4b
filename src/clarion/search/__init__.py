"""One search over people, workflows, topics, transactions and ids."""
