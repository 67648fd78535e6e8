"""What a session holds: its cohorts, the view of one of them, what was measured, and the address that names all this.

Nothing here shows a page: pages import this package, and never the other way round.
"""
