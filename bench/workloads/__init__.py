"""The workloads: one module for each."""
