"""Recognise a scan that a model was trained on, or a subject's id: a probability would be no evidence of anything.

A fingerprint is 32 random sums over all correlations of a subject. The same scan, read from another file or rounded
otherwise, lies within 0.001; two different ABIDE scans are 0.5 apart or more. From a fingerprint no
correlation can be found again.

The same person in another session, or preprocessed anew, has another fingerprint and often the same id. Of ids a card
keeps 24 bits of a slow hash (scrypt), salted with the hash of the model's weights: nobody can read them off a card, or
see which models share subjects. Whoever already has a list of possible ids can try each, in milliseconds, as anybody
can who asks the model. Of foreign ids one in some 5,000 is recognised by chance (899 subjects), so that one match alone
is no proof.
"""

import re
from collections.abc import Iterable
from hashlib import scrypt

import torch
from torch import Tensor

from biobgt.cohort import person_of

SIZE = 32
SAME_SCAN = 0.1
_DIGITS = 6  # hexadecimal: 24 bits
_TELLING = re.compile(r"[1-9]\d{4,}")  # a number long enough to be one person's: 50642 in CMU_a_0050642


def fingerprints(correlations: Tensor) -> Tensor:
    """Sum correlations with random signs.

    Parameters
    ----------
    correlations : Tensor, shape (n_subjects, n_regions, n_regions)

    Returns
    -------
    Tensor, shape (n_subjects, 32)
    """
    rows, columns = torch.triu_indices(correlations.shape[1], correlations.shape[1], 1)
    values = correlations[:, rows, columns].double().cpu()
    signs = torch.randint(2, (SIZE, len(rows)), generator=torch.Generator().manual_seed(0)).double() * 2 - 1
    return (values @ signs.T / len(rows) ** 0.5).float()


def recognised(correlations: Tensor, known: Tensor) -> list[bool]:
    """Tell of each subject whether its scan is among the known fingerprints, shape (n_known, 32)."""
    distances = torch.cdist(fingerprints(correlations), known.float())
    return [bool(nearest < SAME_SCAN) for nearest in distances.amin(dim=1)]


def id_hashes(ids: Iterable[str], salt: str) -> frozenset[str]:
    """Hashes of subjects' ids, whatever their case, session and run; and of the long numbers in them.

    Parameters
    ----------
    ids : iterable of str
    salt : str
        The SHA-256 of the model's weights.
    """
    persons = {person_of(one).casefold() for one in ids}
    forms = persons.union(*(_TELLING.findall(person) for person in persons))
    return frozenset(
        scrypt(form.encode("utf-8", "surrogatepass"), salt=salt.encode(), n=2**11, r=8, p=1, dklen=_DIGITS // 2).hex()
        for form in forms
    )


def written_hashes(hashes: Iterable[str]) -> str:
    """Hashes of ids one after the other, as a card holds them."""
    return "".join(sorted(hashes))


def read_hashes(text: str) -> frozenset[str]:
    """The hashes of ids on a card."""
    return frozenset(text[start : start + _DIGITS] for start in range(0, len(text), _DIGITS))
