"""Games for people: in the terminal, on a page in the browser, and in a notebook (`widget.BoardWidget`).

In reading order:

1. `levels`: the players for a seat, from a person to the level `perfect`;
2. `terminal`: the game in the terminal;
3. `server`: the page in the browser, whose files are in `web`; `choosing`: moves of Python players for the page;
4. `widget`: the board for notebooks, whose script `bundle` joins.
"""
