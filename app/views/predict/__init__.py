"""The page of predictions."""
