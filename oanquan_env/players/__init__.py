"""What values positions with NumPy alone: the value net, and full-width search for any number of players."""
