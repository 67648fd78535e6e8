"""The page of attention: where the trained models look in groups, and in one subject."""
