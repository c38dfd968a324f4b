"""Variables of environments: one belongs to the organization and has a value in each environment."""
