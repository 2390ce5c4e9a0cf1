"""Answers under way: each runs apart from any connection, waits for its turn, and keeps its events for listeners."""
