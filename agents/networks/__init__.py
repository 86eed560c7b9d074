"""Features, and the networks that read them."""
