"""For every test: an example may take its time, since the machine may be busy."""

from hypothesis import settings

settings.register_profile("responsa", deadline=None)
settings.load_profile("responsa")
