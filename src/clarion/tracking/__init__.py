"""Tracking of e-mails: links and images that tell that a message was opened, and its links were followed."""
