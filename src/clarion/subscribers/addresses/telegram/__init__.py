"""Bots of Telegram: their webhooks, the links by which people connect their chats, and the set-up on a phone."""
