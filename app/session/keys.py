"""The names under which a session keeps its values; those in a link are its parameters' names too."""

from collections.abc import Mapping

# Values of widgets in the sidebar.
COHORT = "cohort"
SUBJECT = "subject"
LEVEL_KEYS: Mapping[str, str] = {"absolute": "absolute_level", "proportional": "proportional_level"}
MODEL = "model"
# The region that is asked about on the page of hubs, and how modules are named; options know these names, too.
REGION = "region"
LABELLING = "labelling"
# Widgets on the page of exports; those of the look are a prefix and the name of the option.
EXPORT_LOOK = "export_"
EXPORT_FORMATS = "export_formats"
EXPORT_DATA = "export_data"
PANEL_FIGURES = "panel_figures"
PANEL_COLUMNS = "panel_columns"
PANEL_LETTERS = "panel_letters"
# On the page of exports, and no widget's value: the list, and what was made of it.
EXPORT_LIST = "export_list"
EXPORT_FILES = "export_files"
EXPORT_PREVIEWS = "export_previews"
EXPORT_MEASURED = "export_measured"
EXPORT_PANELS = "export_panels"
EXPORT_GRAPHS = "export_graphs"
# What is no widget's value.
OWN_COHORT = "own_cohort"
NEXT_COHORT = "next_cohort"
VIEW = "view"
LINK_PROBLEMS = "link_problems"
LINK_OPENED = "link_opened"
NEXT_LINK = "next_link"
TOUR = "tour_step"  # counted from 0; absent where no tour is made
# On the page of subjects: a number that grows with every change of the user's own cohort, so that no edit of a table is
# taken for one of the next; a number that grows when the uploaders are to be emptied; the last reading, and what it
# brought; the answers; whether further files are added.
EDITION = "edition"
UPLOADERS = "uploaders"
ATTEMPT = "attempt"
BATCH = "batch"
ANSWERS = "answers"
ADDING = "adding"
ANSWERED_FILES = "answered_files"  # that the answers are about
# A project that was opened last. The copy that is kept of the user's work: its key; the edition and the settings of the
# last one; the one that this session opened, until its own has taken its place; why none could be kept.
PROJECT_ATTEMPT = "project_attempt"
COPY_KEY = "copy_key"
COPY_SAVED = "copy_saved"
COPY_OPENED = "copy_opened"
COPY_PROBLEM = "copy_problem"
COPY_DISMISSED = "copy_dismissed"
COPY_SWITCH = "copy_switch"
# A public cohort that is being fetched (what was asked for), and why the last one was not.
FETCHING = "fetching"
FETCH_PROBLEM = "fetch_problem"
# On a server with a password.
LOGGED_IN = "logged_in"
