"""The page of exports: figures for a paper, with what made them."""
