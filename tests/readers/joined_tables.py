"""Phenotype tables put together as reading a folder does."""

from biobgt.readers.phenotypes import JoinedPhenotypes


def joined(tables):
    together = JoinedPhenotypes()
    for table in tables:
        together.check_size(table)
        together.add(table)
    return together.result()
