"""Programs that make files of the repository: data and engine of the page, puzzles, pictures, parts of pages."""
