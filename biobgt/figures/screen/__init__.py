"""Drawings for the screen, as plotly takes them."""
