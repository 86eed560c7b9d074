"""Features, and the networks that read them.

In reading order: `features`, the inputs; `embedding_sums`, the first layer; `nets`, the networks of agents;
`value_nets`, the trainable forms of value nets.
"""
