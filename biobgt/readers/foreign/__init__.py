"""Formats whose libraries can crash or loop on a damaged file: each is read in a process of its own."""
