"""The errors of more than one module. `UsageError` is their base: commands print one without a traceback."""


class UsageError(ValueError):
    """A request, a file or an option that cannot be used; names the fault, its place and the remedy."""


class UnknownAgentError(UsageError):
    """A name or an option that no player has; lists those that exist."""


class UnavailableError(UsageError):
    """A player that is not made for the rules, or has no value net for them; another player may do instead."""


class MissingExtraError(ImportError, UsageError):
    """An optional package is not installed; names the extra that installs it."""
