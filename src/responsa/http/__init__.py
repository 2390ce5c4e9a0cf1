"""The way to a model server: requests, one retry policy, one deadline, server-sent events, typed errors.

Nothing here loads the HTTP library before the first request is made.
"""

__all__: list[str] = []
