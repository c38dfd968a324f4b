"""E-mail providers, one module each, and composing e-mails."""
