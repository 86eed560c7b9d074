"""Game-tree search: value nets, compiled alpha-beta and max^n, and Monte-Carlo tree search."""
