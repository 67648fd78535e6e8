"""The page of subjects: files uploaded or fetched, the table of the user's own subjects, projects and copies."""
