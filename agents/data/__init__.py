"""Data for offline learning: `position_data`, positions with the value of every move, and `game_data`, whole games."""
