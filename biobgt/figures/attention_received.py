"""Which regions of the brain a trained model's groups look at."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from biobgt.base.options import option
from biobgt.base.references import in_brackets
from biobgt.base.wording import capitalised, percent
from biobgt.figures.attention import AttentionPartOptions
from biobgt.figures.brain import NODES, Brain, BrainKind, brain_option, in_brain
from biobgt.figures.drawing import Drawing
from biobgt.figures.model_figure import groups_of, known_group, model_of, model_opening, model_words
from biobgt.figures.register import model_figure
from biobgt.model.attention import attention_received, select_attention, strongest_regions

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured


@dataclass(frozen=True)
class AttentionReceivedOptions(AttentionPartOptions):
    """Whose attention, and which part of it."""

    group: str = option(
        "",
        title="Group",
        help="The group whose attention is shown; by default the controls.",
        choices_of=groups_of,
        of_model=True,
        in_a_row=True,
        link="received_group",
    )
    brain: BrainKind = brain_option()


@model_figure("attention_received", "Attention received, in the brain", takes=AttentionReceivedOptions)
def attention_in_brain(measured: "Measured", options: AttentionReceivedOptions) -> Drawing:
    """The attention that each region receives from all others, at its place in the brain."""
    model = model_of(measured, "attention_received")
    group = known_group(model, options.group or model.group_names[0])
    options.check_part(model)
    received = attention_received(select_attention(model.groups.attention[group], **options.selected))
    look = {"values": received, "sizes": received, "quantity": "attention received (1 = uniform)"}
    brain = Brain.of(model.atlas, options.brain, **look)
    low, high, mean = float(received.min()), float(received.max()), float(received.mean())

    def numbers() -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame({"region": brain.regions, **brain.places, "attention received": received})

    def caption(where: str) -> str:
        nodes = options.brain == NODES
        place = f"on {where}" if nodes else brain.place_in(where)
        colour = "colour and size are" if nodes else "colour is"
        return (
            f"{model_opening(model, (group,))}: attention that each region receives from all others in "
            f"{model.groups.n[group]:,} {group}, {options.words}, {place}; {colour} multiples of uniform attention. "
            f"{capitalised(colour)} stretched over the whole range, {low:.2f} to {high:.2f}, which is "
            f"{percent((high - low) / mean)} of the mean. No region was tested; the highest values are those of "
            f"{', '.join(strongest_regions(received, brain.regions))}.{brain.left_out}"
        )

    words = model_words(model)
    return in_brain(
        brain,
        caption,
        title=f"Attention received, {group}, {model.name}",
        simulated=model.simulates((group,)),
        numbers=numbers,
        methods=(*words["methods"], f"Regions were drawn with nilearn{in_brackets(('abraham2014',))}."),
        citations=(*words["citations"], "abraham2014"),
    )
