"""The page of hubs: curves, agreement, evidence, brains, the table, and one region in detail."""
