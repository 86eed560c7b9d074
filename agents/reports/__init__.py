"""Reports on training: the README.md pages of agents, and learning curves.

`cards` copies an agent or value net into the project and writes its page; `curves` draws learning curves.
"""
