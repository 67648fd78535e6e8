"""Attention of trained models: maps, disorders beside their controls, groups tested, and a cohort's own groups."""
