"""Value nets: generations of play, values by search, and the fit, as one run that can be resumed."""
