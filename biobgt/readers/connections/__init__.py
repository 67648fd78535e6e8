"""Tables of connections: one row per connection, or one row per person and one column per pair of regions."""
