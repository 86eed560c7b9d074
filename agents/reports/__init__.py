"""What people read of it: Markdown, pictures, cards, learning curves."""
