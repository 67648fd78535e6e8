"""What the page of hubs measures behind its first figures where an atlas has many regions."""

from biobgt.hubs import cost
from biobgt.hubs.hub_options import GAMMAS, EntanglementOptions
from session.long_work import work_through
from session.view import View


def measure_rest(view: View) -> bool:
    """Measure all diffusion times and all measures, which shows how far it is and can be stopped; true when it is done.

    With few regions nothing is measured here: whoever draws it has it at once.
    """
    if view.atlas.n_regions <= cost.STEPS_ABOVE:
        return True
    hubs = view.measured.hubs(view.options(EntanglementOptions).perturbation)
    steps = hubs.steps(GAMMAS)
    left = [step for step in steps if not hubs.has(step)]
    return work_through(
        left,
        hubs.measure,
        key="rest_of_hubs",
        start="Measure NE at the other diffusion times, and the other measures",
        doing="Measuring NE at the other diffusion times, then the other measures: step",
        automatic=True,
        done_before=len(steps) - len(left),
    )
