"""What the other rooms build on: files, provenance, command lines, work spread over processes, strict YAML."""
