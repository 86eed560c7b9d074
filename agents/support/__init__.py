"""Helpers of all modules: files, provenance, command lines, work spread over processes, strict YAML."""
