"""A fuzzer for every way in; see :mod:`tests.fuzz.fuzzer`."""
