"""Files, provenance, work spread over processes, strict YAML: what the other rooms stand on."""
