"""Games for people: in the terminal, on a page in the browser, and in a notebook (`widget.BoardWidget`)."""
