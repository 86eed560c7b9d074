"""Helpers shared by all modules: folder locks, Markdown, provenance, and work spread over processes."""
