"""Reports: Markdown pages, pictures, agents' cards and learning curves."""
