"""People who sign in: members of an organization, their roles, sessions, invitations and links."""
