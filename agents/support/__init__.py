"""The ground floor: files, provenance, command lines, work spread over processes, strict YAML."""
