"""Why a person got a message or not: every decision, in order, with the values that it saw."""
