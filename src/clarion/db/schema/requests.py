"""Requests of HTTP steps, and the hosts that they go to."""

from sqlalchemy import Column, Integer, Table

from clarion.db.schema.columns import id_, metadata, moment, text_

http_requests = Table(
    "http_requests",  # of HTTP steps, from the moment at which one is reached until it is over
    metadata,
    id_("environment_id", key=True),
    id_("job_id", key=True),
    text_("host"),  # with its port, as the URL names it
    text_("content"),  # sealed
    sqlite_with_rowid=False,
)

http_hosts = Table(
    "http_hosts",  # that did not answer HTTP steps lately, or asked for a pause
    metadata,
    id_("environment_id", key=True),
    text_("host", key=True),
    Column("failures", Integer, nullable=False),  # in a row
    moment("open_until", optional=True),  # the end of its pause; NULL: its circuit is closed
    moment("paused_until", optional=True),  # the end of the pause that it asked for
    moment("changed_at"),
)

http_answers = Table(
    "http_answers",  # to requests of HTTP steps that all runs of a trigger share
    metadata,
    id_("environment_id", key=True),
    id_("trigger_id", key=True),
    id_("step_id", key=True),
    id_("request_id"),  # the job that reached the step first
    id_("job_id"),  # the job that makes the request
    moment("wake_at"),  # when those who wait for the answer look again
    text_("outcome", optional=True),  # the status of the step; NULL: there is no answer yet
    text_("outputs", optional=True),  # JSON: what later steps see
    sqlite_with_rowid=False,
)
