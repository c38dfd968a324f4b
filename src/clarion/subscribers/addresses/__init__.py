"""Addresses of people in chats: workspaces that were connected, and the places in them where people are reached."""
