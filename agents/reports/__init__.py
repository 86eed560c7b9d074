"""Reports for people: Markdown, pictures, cards, learning curves."""
