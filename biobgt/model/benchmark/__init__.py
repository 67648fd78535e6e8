"""What BioBGT is compared with: simple models, other networks, and the register of all that stand side by side."""
