"""Reports on training and on tournaments: the README.md pages of agents, learning curves, and files of results.

`cards` copies an agent or value net into the project and writes its page; `curves` draws learning curves;
`tournaments` reads and writes the report of a tournament, and draws its scores.
"""
