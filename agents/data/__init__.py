"""Data for offline learning: `position_data`, positions with the value of every move, and `game_data`, whole games.

Each is a program that `python -m` runs, and reads what it wrote.
"""
