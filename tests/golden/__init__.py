"""Golden files: a game of each preset with the results of public functions at every ply, and prompts by language.

`python -m tests.golden` rewrites them. Run it only after an intended change of behaviour, and read the diff.
"""

from collections.abc import Iterator
from pathlib import Path

from oanquan_env import PRESETS, Board, Core, GameRecord, Move, Positions, Rules, divide, mirror, raw_env, rotate_seats
from oanquan_env.engine.notation import Language, format_position
from oanquan_env.players import move_gains
from oanquan_env.rewards import REWARDS
from oanquan_env.text import prompt

FOLDER = Path(__file__).parent


def path(preset: str) -> Path:
    """Return the path of a preset's playthrough."""
    return FOLDER / f"{preset}.txt"


def playthrough(preset: str) -> Iterator[str]:
    """Yield the lines of one game under the rules of `preset`. The ply determines which legal move is played."""
    yield f"# A game by the rules {preset}, with every answer at every ply; `python -m tests.golden` writes it."
    board = Board(preset)
    yield f"rules: {board.rules}"
    yield f"changes: {board.rules.differences(Rules())}"
    environments = {reward: raw_env(rules=preset, reward=reward) for reward in REWARDS}
    for environment in environments.values():
        environment.reset()
    yield f"observation layout: {environments['margin'].encoder.layout}"
    while True:
        yield f"\n== ply {board.ply}"
        yield from _board_lines(board)
        yield from _core_lines(board.core, board.positions)
        yield from _environment_lines(environments)
        if board.outcome:
            break
        yield from _children(board.core, board.positions)
        legal = board.legal_moves
        move = legal[board.ply * (board.ply + 2) % len(legal)]
        for environment in environments.values():
            environment.step(move.action)
        board.push(move)
        yield from (f"story: {line}" for line in str(board.last_trace).splitlines())
    yield "\n== record"
    yield from str(GameRecord.from_board(board, {"Event": "golden"}, {1: "fixed choice"})).splitlines()


def prompts(language: Language) -> str:
    """Return the default prompts for the set-ups of all presets, and one prompt with all options."""
    told = {preset: prompt(Board(preset), language=language) for preset in PRESETS}
    board = Board("vietnamese")
    board.push("5A")
    told["all options"] = prompt(board, language=language, rules=False, legal_moves=True, history=True, answer="json")
    return "\n\n".join(f"== {name}\n{text}" for name, text in told.items()) + "\n"


def _board_lines(board: Board) -> Iterator[str]:
    yield f"text: {board.text()}"
    yield f"repr: {board!r}"
    for name in ("seeds", "stones", "scores", "mover"):
        yield f"{name}: {getattr(board, name)}"
    yield f"status: {board.status()}"
    yield f"outcome: {board.outcome}"
    yield f"legal moves: {' '.join(map(str, board.legal_moves))}"
    yield f"divide 2: {' '.join(f'{move}:{paths}' for move, paths in divide(board, 2).items())}"


def _core_lines(core: Core, positions: Positions) -> Iterator[str]:
    yield f"legal mask: {core.legal_mask(positions)[0].astype(int).tolist()}"
    yield f"over, terminated, truncated: {positions.over[0]}, {positions.terminated[0]}, {positions.truncated[0]}"
    yield f"standings: {core.standings(positions)[0].tolist()}"
    yield f"winners: {core.winners(positions)[0].astype(int).tolist()}"
    yield f"gains: {[round(gain, 6) for gain in move_gains(core, positions)[0].tolist()]}"
    yield f"rotated: {format_position(core, rotate_seats(positions))}"
    if core.rules.players == 2:
        yield f"mirrored: {format_position(core, mirror(positions, core.rules))}"


def _environment_lines(environments: dict[str, raw_env]) -> Iterator[str]:
    for reward, environment in environments.items():
        yield f"{reward} rewards: {[round(value, 6) for value in environment.rewards.values()]}"
        yield f"{reward} ends: {list(environment.terminations.values())} {list(environment.truncations.values())}"
        yield f"{reward} infos: {environment.infos}"
    environment = environments["margin"]
    yield f"agents: {environment.agents}, next {environment.agent_selection}"
    for agent in environment.possible_agents:
        seen = environment.observe(agent)
        yield f"{agent} sees {seen['observation'].tolist()}, may {seen['action_mask'].tolist()}"


def _children(core: Core, positions: Positions) -> Iterator[str]:
    """Yield a line for each legal move, with the result of playing it."""
    for action in core.legal_mask(positions)[0].nonzero()[0].tolist():
        child = positions.copy()
        played = core.play(child, [action])
        text = format_position(core, child)
        yield f"move {Move.from_action(action)}: {played.captured[0]} points in {played.laps[0]} laps -> {text}"
