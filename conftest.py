"""For every test: an example may take its time, since the machine may be busy."""

from hypothesis import HealthCheck, settings

settings.register_profile("responsa", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("responsa")
