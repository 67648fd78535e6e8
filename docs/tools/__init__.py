"""What turns ``docs/`` into a site: tables from the registers, equations, the gallery, and checked commands.

``make docs`` builds the site. Nothing here is part of the installed package.
"""
