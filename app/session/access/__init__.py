"""Who may reach a session: requests are looked at before a page sees them, and logins and uploads are noted."""
