"""A believable small company for an empty environment: people, workflows, and a week of runs.

`people`, `workflows`, `mails` and `company` are its data, in the words of the API. `events` is what happens in the
week, and `week` runs it with the real engine on a clock of its own; `vendors` answers in place of the providers.
`filling` does so in a temporary store, and copies the result in one transaction.
"""
