from hypothesis import settings

# No timing in tests: an example may take as long as the machine needs.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
