"""Real time: sockets of subscribers, what is pushed to them, and the messages between processes about it."""
