"""What pages share: the sidebar, the login, figures with their captions, sentences about bad input."""
