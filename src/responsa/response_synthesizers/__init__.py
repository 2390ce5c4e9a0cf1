"""The synthesis modes, one short program each."""
