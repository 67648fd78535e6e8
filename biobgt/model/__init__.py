"""BioBGT, the biologically plausible brain graph transformer (ICLR 2025), and the simple models beside it."""
