"""Data only: nodes, messages, completions, events, responses, errors, and the seams' protocols. No I/O."""
