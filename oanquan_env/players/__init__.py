"""What plays or judges positions with NumPy alone: the value net."""
