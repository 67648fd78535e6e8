"""Hubs in the brain, on the page of hubs: in 3-D, in the glass brain, and five measures side by side."""

from biobgt.figures.hub_brains import FiveBrains, HubBrain, HubBrainOptions
from biobgt.hubs.options import EntanglementOptions
from session.page_options import FIVE, GLASS, PageOptions, brain_kind
from session.view import View
from views.shared.no_coordinates import show_no_places
from views.shared.option_widgets import ask
from views.shared.widgets import heading, show


def show_brain(view: View) -> None:
    """Show the regions at their places, sized by NE and coloured by its rank, or by five measures."""
    heading(HubBrain.name, simulated=view.subject.simulated)
    if view.atlas.coordinates is None:
        show_no_places()
        return
    ask(PageOptions, "hub_brain", cohort=view.cohort)
    shown = view.options(PageOptions).hub_brain
    if shown == FIVE:
        show(view, FiveBrains.of(view.measured, view.options(EntanglementOptions)), key="hub_five")
        return
    figure = HubBrain.of(view.measured, view.options(HubBrainOptions, brain=brain_kind(shown)))
    show(view, figure, key="hub_glass" if shown == GLASS else None, as_picture=shown == GLASS)
