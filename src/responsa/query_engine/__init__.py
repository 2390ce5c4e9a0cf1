"""Retrieve, then synthesize."""
