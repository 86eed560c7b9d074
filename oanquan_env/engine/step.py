"""Play one environment step of one game: the actions of the agent and its opponent, the reward, the observation.

A game is one record (`game_type`), and a step calls `act` and `finish`. The loop over N games, the single Gymnasium
environment, the AEC environment and a GPU thread all call them. These are plain functions, as in `move`: Numba
compiles them, and with OANQUAN_COMPILED=0 Python runs them unchanged.

The agent has one seat and the opponent plays all others. Without an opponent (NOBODY, the self-play view) the agent
plays every seat, one ply per step. Opponents other than `random` and `greedy` (OTHERS) reply between `act` and
`finish`, in one call for all games.
"""

import functools
from typing import Any, Protocol

import numpy as np

from oanquan_env.engine.move import MAX_PLIES, RUNNING, RuleNumbers, can_play, play
from oanquan_env.engine.observe import observe
from oanquan_env.engine.positions import MANDARIN_BYTE, STONE_BYTE, Termination
from oanquan_env.engine.rules import Rules
from oanquan_env.engine.scoring import OUTCOME, earn, final_points, gain, in_turn, next_seat, write_in_turn
from oanquan_env.engine.tables import inline, side_masks

NOBODY, RANDOM, GREEDY, OTHERS = range(4)
"""Kinds of opponents."""
ILLEGAL_ACTION = len(Termination)
"""Code of a game that the agent ended by an illegal action; it follows the codes of `Termination`."""
ILLEGAL_REWARD = -1.0
"""Reward for an illegal action. It equals the reward `outcome` for losing a two-player game."""
MAX_BEGINNINGS = 100
"""Maximum number of attempts to begin a game; an attempt fails if the opponent ends the game before the agent moves."""
ANY_SEAT = -1
NO_ACTION = -1

_LOW = 0xFFFFFFFF


class Game(Protocol):
    """A record of `game_type` for P players: the state of a game and the outputs of its last step."""

    sides: Any  # (P,) int64 words, see `positions`
    key: int  # 64-bit key of the game's random generator
    draws: int  # how many numbers the generator has drawn
    rewards: Any  # (P,) float64, the rewards of the last step
    reward: float  # the agent's reward
    scores: Any  # (P,) int32 points
    paid: Any  # (P,) int32, the scores when rewards were last paid
    standings: Any  # (P,) int32 points when the game is over, otherwise zero
    mover: int
    ply: int
    seat: int  # the agent's seat; in the self-play view the seat that moved last
    opponent_in_list: int  # index of the opponent in the list that the caller gave
    opponent_in_pool: int  # its index in the pool: before this list, the pool has former opponents still in use
    opening: int  # random plies still to play; -1 after the opening
    rules: int  # index of the game's rules
    termination: int  # a `Termination` or ILLEGAL_ACTION
    ended: int  # a `Termination`
    illegal: int  # 1 if the agent's action was illegal
    begun: int  # 1 if the last step began the game
    terminated: int
    truncated: int


class Settings(Protocol):
    """A record of `SETTINGS`: how games begin and which reward they pay."""

    seat: int  # the agent's seat, or ANY_SEAT
    reward: int  # index in `oanquan_env.rewards.REWARDS`
    opening_plies: int  # maximum number of random plies with which a game begins
    first_in_pool: int  # index in the pool at which the caller's list of opponents begins
    draw_range: int  # length of this list, or with weights the range of the draw (`envs.opponents`)
    rule_sets: int  # number of rule sets from which a new game draws; 0 if it keeps its rules
    positions: int  # number of positions from which games begin; 0 if they begin from the set-up of their rules


SETTINGS = np.dtype((np.record, [(name, np.int64) for name in Settings.__annotations__]))


@functools.cache
def game_type(rules: Rules) -> np.dtype[Any]:
    """Return the data type of a `Game`."""
    players = rules.players
    kinds: dict[str, Any] = {
        "sides": (np.int64, players),
        "rewards": (np.float64, players),
        "reward": np.float64,
        **dict.fromkeys(("key", "draws", "seat", "termination"), np.int64),
        **dict.fromkeys(("scores", "paid", "standings"), (np.int32, players)),
        **dict.fromkeys(("mover", "ply", "opponent_in_list", "opponent_in_pool", "opening", "rules"), np.int32),
    }
    fields = np.dtype([(name, kinds.get(name, np.uint8)) for name in Game.__annotations__], align=True)
    return np.dtype((np.record, fields))


def set_up_word(rules: Rules) -> int:
    """Return a side in the set-up as a word; all sides are equal."""
    seeds = side_masks(rules.fields, 0)[2] * rules.seeds
    return seeds | rules.mandarin_seeds << 8 * MANDARIN_BYTE | rules.stones << 8 * STONE_BYTE


# ---- the random generator of a game ----------------------------------------------------------------------------------


def generator_key(seed: Any) -> Any:
    """Return the key of the generator with this seed (0 to 2^64 - 1), or the keys of an array of uint64.

    This is SplitMix64's output (Steele et al. 2014) with the lowest bit set, so neighbouring seeds have unrelated keys.
    """
    mask = 0xFFFFFFFFFFFFFFFF
    key = (seed + 0x9E3779B97F4A7C15) & mask
    key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & mask
    key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & mask
    return (key ^ (key >> 31)) | 1


@inline
def draw(game: Game, below: int) -> int:
    """Return a random integer from 0 to `below` - 1, with `below` at most 2^31.

    This is the counter-based generator Squares with four rounds (Widynski 2020, arXiv 2004.06278). Only the lowest 64
    bits of each number matter; they are the same in Python's integers and in an int64 that wraps.
    """
    key, counter = int(game.key), int(game.draws)
    game.draws = counter + 1
    first = counter * key
    second = first + key
    x = swap_halves(first * first + first)
    x = swap_halves(x * x + second)
    x = swap_halves(x * x + first)
    return ((((x * x + second) >> 32) & _LOW) * below) >> 32


@inline
def swap_halves(x: int) -> int:
    """Return the lowest 64 bits of `x` with their two 32-bit halves exchanged."""
    return ((x >> 32) & _LOW) | ((x & _LOW) << 32)


@inline
def pick(rules: RuleNumbers, game: Game, actions: int) -> int:
    """Return a uniformly random action from the bit set `actions`."""
    count = 0
    for action in range(2 * rules.fields):
        count += (actions >> action) & 1
    skipped, chosen = draw(game, count), NO_ACTION
    for action in range(2 * rules.fields):
        if (actions >> action) & 1:
            if skipped == 0:
                chosen = action
            skipped -= 1
    return chosen


# ---- plies -----------------------------------------------------------------------------------------------------------


@inline
def play_ply(rules: RuleNumbers, players: int, game: Game, action: int) -> None:
    """Play a legal action for the mover."""
    seat = int(game.mover) + 0
    sides, scores = in_turn(players, game.sides, seat), in_turn(players, game.scores, seat)
    moved = play(rules, players, sides, scores, rules.max_plies - int(game.ply) - 1, action, None)
    write_in_turn(players, game.sides, seat, moved.sides)
    write_in_turn(players, game.scores, seat, moved.scores)
    game.mover = next_seat(players, seat)
    game.ply += 1
    game.ended = moved.ended


@inline
def random_action(rules: RuleNumbers, game: Game) -> int:
    """Return a uniformly random legal action of the mover, as the opponent `random` plays."""
    own, legal = int(game.sides[game.mover]), 0
    for action in range(2 * rules.fields):
        legal |= can_play(rules, own, action) << action
    return pick(rules, game, legal)


@inline
def greedy_action(rules: RuleNumbers, players: int, game: Game) -> int:
    """Return the action with the largest `gain`, with ties broken at random, as the opponent `greedy` plays."""
    seat = int(game.mover) + 0
    sides, scores = in_turn(players, game.sides, seat), in_turn(players, game.scores, seat)
    left = rules.max_plies - int(game.ply) - 1
    most, best = -(1 << 62), 0
    for action in range(2 * rules.fields):
        if can_play(rules, sides[0], action):
            won = gain(rules, players, sides, scores, left, action)
            if won > most:
                most, best = won, 0
            if won == most:
                best |= 1 << action
    return pick(rules, game, best)


# ---- the step --------------------------------------------------------------------------------------------------------


@inline
def draw_rules(game: Game, settings: Settings) -> None:
    """Draw the rules of the new game with which a finished game goes on; a single rule set takes no draw."""
    if settings.rule_sets > 1 and (game.terminated or game.truncated):
        game.rules = draw(game, settings.rule_sets)


@inline
def act(
    rules: RuleNumbers,
    players: int,
    opponent: int,
    game: Game,
    action: int,
    start: Game,
    settings: Settings,
    log: Any,
) -> None:
    """Play the agent's action, or begin a new game if the last is over; then play replies until the agent is to move.

    An illegal action is not played but sets `illegal`. A new game begins from `start`, with an opening of random plies.
    If the opening ends the game, the game begins again without an opening. If the opponent ends the game before the
    agent is to move, seat, opponent and opening are drawn again; after MAX_BEGINNINGS attempts the game stays over.

    `log` is an int64 array. Unless it is empty, it receives the number of actions played in this step (or in the new
    game), how many of them belong to the opening, 1 if a new game began, and the actions.
    """
    begun, beginnings = game.terminated or game.truncated, 1
    game.begun = begun
    if len(log):
        log[0], log[1], log[2] = 0, 0, begun
    if begun:
        begin(rules, players, opponent, game, start, settings)
        action = NO_ACTION
    else:
        if opponent == NOBODY:
            game.seat = game.mover
        game.illegal = not can_play(rules, int(game.sides[game.mover]), action)
        if game.illegal:
            return
    while True:
        if action != NO_ACTION:
            play_ply(rules, players, game, action)
            if len(log):
                log[3 + log[0]] = action
                log[0] += 1
        if game.ended != RUNNING:
            if not begun or beginnings == MAX_BEGINNINGS:
                break
            if len(log):
                log[0], log[1] = 0, 0
            if game.opening >= 0:
                place(players, game, start)
                game.opening = 0
            else:
                begin(rules, players, opponent, game, start, settings)
                beginnings += 1
        if game.opening > 0:
            game.opening -= 1
            action = random_action(rules, game)
            continue
        if game.opening == 0:
            game.opening = -1
            if len(log):
                log[1] = log[0]
            for seat in range(players):
                game.paid[seat] = game.scores[seat]
            if opponent == NOBODY:
                game.seat = game.mover
        if opponent in (NOBODY, OTHERS) or game.mover == game.seat:
            break
        action = random_action(rules, game) if opponent == RANDOM else greedy_action(rules, players, game)


@inline
def begin(rules: RuleNumbers, players: int, opponent: int, game: Game, start: Game, settings: Settings) -> None:
    """Begin a new game: draw the opening's length, the agent's seat and its opponent."""
    place(players, game, start)
    game.opening = draw(game, settings.opening_plies + 1) if settings.opening_plies > 0 else 0
    if opponent != NOBODY:
        game.seat = settings.seat if settings.seat != ANY_SEAT else draw(game, players)
        game.opponent_in_list = draw(game, settings.draw_range) if settings.draw_range > 1 else 0
        game.opponent_in_pool = settings.first_in_pool + game.opponent_in_list


@inline
def place(players: int, game: Game, start: Game) -> None:
    """Copy the position of `start` into the game."""
    for seat in range(players):
        game.sides[seat], game.scores[seat] = start.sides[seat], start.scores[seat]
    game.mover, game.ply, game.ended, game.illegal = start.mover, start.ply, RUNNING, 0


@inline
def finish(
    rules: RuleNumbers,
    players: int,
    opponent: int,
    game: Game,
    settings: Settings,
    observation: Any,
    mask: Any,
) -> None:
    """Pay the rewards of the step, set the flags, and write the agent's observation and action mask.

    `observation` and `mask` are records of `row_type`. While a game is running, its flags and standings stay zero;
    under OUTCOME, its reward also stays zero.
    """
    over = game.illegal != 0 or game.ended != RUNNING
    if game.begun:
        over = False
        game.reward, game.termination, game.terminated, game.truncated = 0.0, RUNNING, 0, 0
        for seat in range(players):
            game.rewards[seat], game.standings[seat] = 0.0, 0
    elif over or settings.reward != OUTCOME:
        pay(rules, players, game, settings.reward)
        if over:
            game.termination = ILLEGAL_ACTION if game.illegal else game.ended
            game.truncated = game.ended >= MAX_PLIES
            game.terminated = not game.truncated
    own = 0 if over else int(game.sides[game.mover])
    for action in range(2 * rules.fields):
        mask.row[action] = can_play(rules, own, action)
    viewer = int(game.mover if opponent == NOBODY else game.seat) + 0
    observe(rules, players, game.sides, game.scores, (viewer, int(game.mover), int(game.ply)), observation)


@inline
def pay(rules: RuleNumbers, players: int, game: Game, reward: int) -> None:
    """Pay all players their rewards since the last payment; set the standings if the game is over."""
    ended = int(game.ended) + 0
    points = final_points(rules, players, game.sides, game.scores, ended)
    earn(rules, players, reward, points, game.paid, ended, game.rewards)
    for seat in range(players):
        game.paid[seat] = game.scores[seat]
        if game.illegal:
            game.rewards[seat] = ILLEGAL_REWARD if seat == game.seat else 0.0
        if game.illegal or ended != RUNNING:
            game.standings[seat] = points[seat]
    game.reward = game.rewards[game.seat]


@inline
def waits(game: Game) -> bool:
    """Return whether the game waits for the opponent's move."""
    return game.ended == RUNNING and game.mover != game.seat and game.illegal == 0


@inline
def finish_games(
    rules_array: Any,
    players: int,
    opponent: int,
    many: bool,
    games: Any,
    rows: Any,
    settings: Any,
    observations: Any,
    masks: Any,
) -> tuple[int, int]:
    """Finish the step of the games in `rows`. Return how many games ended, and how many new games are already over."""
    over = stuck = 0
    for row in rows:
        game = games[row]
        rules = rules_array[game.rules if many else 0]
        finish(rules, players, opponent, game, settings[0], observations[row], masks[row])
        over += game.terminated or game.truncated
        stuck += game.begun != 0 and game.ended != RUNNING
    return over, stuck
