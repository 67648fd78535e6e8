"""The page of modules: how they are found, one subject's, chance, and brains."""
