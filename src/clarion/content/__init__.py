"""What messages are made of beside their steps: languages, and what all texts of an environment can refer to."""
