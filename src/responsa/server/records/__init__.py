"""What the service keeps of its own, besides keys and sessions: documents, jobs, feedback."""
