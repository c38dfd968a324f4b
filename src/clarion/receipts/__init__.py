"""Receipts: providers' reports about messages that they accepted, such as deliveries and bounces."""
