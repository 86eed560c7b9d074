"""The error of a player that is not to be had."""


class UnavailableError(ValueError):
    """A player that is not installed here, or is not made for the rules; another one may do instead."""
