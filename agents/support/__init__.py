"""Helpers of all modules: locked folders, Markdown, provenance, work spread over processes, one shared environment."""
