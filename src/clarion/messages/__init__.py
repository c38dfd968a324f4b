"""Messages: deliveries through one channel."""
