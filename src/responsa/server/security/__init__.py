"""Who may ask, and what is refused before anything is read."""
