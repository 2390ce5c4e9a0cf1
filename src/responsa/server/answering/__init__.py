"""From a request to the programs of the engine, and from what they give to JSON. No HTTP here."""
