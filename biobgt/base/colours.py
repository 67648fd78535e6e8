"""The hues that figures draw with, by name; what each stands for is said where it is used."""

# Of Okabe and Ito, safe for the colour-blind.
BLUE, SKY, GREEN, YELLOW = "#0072B2", "#56B4E9", "#009E73", "#F0E442"
ORANGE, VERMILION, PURPLE = "#E69F00", "#D55E00", "#CC79A7"
RED = "#D0021B"  # of one line that is marked
# Of Tol, that go with them.
WINE, INDIGO, OLIVE, MAGENTA, BROWN = "#882255", "#332288", "#999933", "#AA4499", "#661100"
# For outlines and marks, for lines, and for what belongs to no group.
BLACK, BLACKISH, DARK_GREY, CHARCOAL = "#000000", "#111111", "#3C3C3C", "#444444"
LINE_GREY, RIM_GREY, PALE_GREY = "#7A868C", "#8A959C", "#9AA5AB"
# Scales of colours, safe for the colour-blind: of amounts, and about zero (white; red is above it, blue below).
SEQUENTIAL, DIVERGING = "Viridis", "RdBu_r"
POSITIVE, NEGATIVE = "#B2182B", "#2166AC"  # of that about zero, where there are two colours and no scale
# Okabe and Ito's colours, safe for the colour-blind, with Tol's wine for their black, which a dark page would swallow;
# modules past the eighth start over with another symbol.
MODULE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, WINE)


def ink_on(share: float) -> str:
    """Black or white, whichever is read better on a colour of the diverging scale: it is dark near both ends.

    Red is as dark for black as it is light for white (a luminance of 0.18) at 0.66 of the way to its end, blue at 0.71.
    """
    return "white" if not -0.71 <= share <= 0.66 else "black"
