"""Running models on this machine: the packaged llama-server, and model files from packages."""
