"""Connecting workspaces and people of chats by OAuth: the addresses that browsers are sent to, and what comes back."""
