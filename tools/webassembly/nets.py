"""Value nets as engine.wasm takes them."""

from typing import Any

from oanquan_env.engine.core import Core
from oanquan_env.search.compiled import compile_rules
from oanquan_env.search.leaf import with_net
from oanquan_env.search.many import compile_many
from oanquan_env.search.value_net import ValueNet


def net_bytes(net: ValueNet) -> bytes:
    """The net as the leaves of searches use it: the first two layers rounded to int16, the rest float32."""
    core = Core(net.rules)
    rules: Any = with_net(compile_rules(core), net) if net.rules.players == 2 else compile_many(core, net)
    content: bytes = rules["net"].tobytes()
    return content
