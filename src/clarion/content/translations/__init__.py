"""The texts of workflows and layouts in several languages."""
