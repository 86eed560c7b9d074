"""Players of Ô Ăn Quan by name."""
