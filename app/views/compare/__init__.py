"""The page that compares two groups: what in, adjusted for what, what that costs, and what differs."""
