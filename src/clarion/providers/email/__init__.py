"""E-mail providers, one file each, and the making of an e-mail."""
