"""Figures of studies: what a design finds in connections, regions and the whole network, and the design itself."""
