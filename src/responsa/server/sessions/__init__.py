"""Conversations over HTTP: each belongs to the key that made it, and is answered one message at a time."""
