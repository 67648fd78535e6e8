"""Run every page of the benchmarks, or the named ones: ``python -m benchmarks [readers …]``."""

import sys
from importlib import import_module

PAGES = (
    "readers",
    "hubs",
    "hubs_page",
    "modules",
    "model",
    "scale",
    "commands",
    "app",
    "explore",
    "sessions",
    "studies",
    "participants",
    "specifications",
)


def main() -> None:
    """Run the pages."""
    unknown = set(sys.argv[1:]) - set(PAGES)
    if unknown:
        sys.exit(f"There is no page {', '.join(sorted(unknown))}. Pages: {', '.join(PAGES)}.")
    for page in sys.argv[1:] or PAGES:
        import_module(f"benchmarks.{page}").run()


if __name__ == "__main__":
    main()
