"""The page of trained models."""
