"""Programs that generate files of the repository: the page's data and engine, puzzles, pictures, parts of pages."""
