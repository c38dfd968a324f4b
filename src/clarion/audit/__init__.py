"""The audit log: who changed which part of the configuration, when and how."""
