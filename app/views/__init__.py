"""The pages, a folder each; ``page.py`` is what Streamlit runs, the other files are its panels."""
