"""What the modules of a group in the brain show, in words; other captions of modules stand beside their figures."""

from biobgt.figures.brain import CORTEX
from biobgt.wording import counted


def group_brain_caption(
    group: str, other: str, *, n_modules: int, n_subjects: int, n_regions: int, where: str = CORTEX, simulated: bool
) -> str:
    """Say what the modules of one of two groups in the brain show.

    Parameters
    ----------
    group, other : str
        The group that is shown, and the one it is compared with.
    n_modules, n_subjects, n_regions : int
        Of the group that is shown.
    where : str
        In which brain: :data:`biobgt.figures.brain.CORTEX` or ``GLASS_BRAIN``.
    simulated : bool
    """
    whom = counted(n_subjects, "simulated subject" if simulated else "subject")
    return (
        f"{group}: {counted(n_modules, 'module')} that its {whom} agree on, as {counted(n_regions, 'region')} at their "
        f"MNI coordinates inside {where}; grey regions are in none. Modules are numbered and coloured as "
        f"those of {other} with which they share the most regions."
    )
