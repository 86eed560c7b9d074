"""Features, and the networks that read them.

In reading order: `features`, the inputs; `embedding_sums` and `layers`, what networks consist of; `nets`, the networks
of agents and their configuration; `two_ply`, the network that looks two plies ahead; `value_nets`, the trainable forms
of value nets.
"""
