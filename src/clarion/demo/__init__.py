"""A believable small company for an empty environment: people, workflows, and a week of runs.

`people`, `workflows`, `mails`, `catalog` and `accounts` are its data, in the words of the API. `story` is what happens
in the week, `week` lives through it with the real engine on a clock of its own, and `vendors` answers in place of the
providers. `filling` does so in a temporary store, and copies the result in one transaction.
"""
