"""BioBGT Explorer: hubs, functional modules and transformer attention in brain networks."""

__version__ = "0.1.0"
