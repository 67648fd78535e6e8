"""The first page: what is loaded, what the models are worth, where to go, and how to cite."""
