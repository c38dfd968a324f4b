"""E-mail bodies: what a step and its layout say, compiled to templates once and rendered for each person."""
