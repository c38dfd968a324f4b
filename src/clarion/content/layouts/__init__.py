"""Layouts: what stands around the content of e-mails, kept as versions and named by the steps of workflows."""
