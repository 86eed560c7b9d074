"""Test the page's analysis board: its trees of moves in Node.js, and the board in a browser."""

import json
import re
from typing import Any

import pytest

from oanquan_env import Board, parse_records
from oanquan_env.records.lines import MAX_NESTING
from tests.helpers import node
from tests.helpers.browsers import PHONE, WEB, Person, Visit

TREE = "5A4Av3C2Av1Aee"
ROUND = '[Rules "mancala-world"]\n[Match "match_measure=lack fields_to_lose=3 max_rounds=50"]\n[Round '
SOLD = f"""{ROUND}"1"]\n[Result "22-46"]\n[Termination "stones_captured"]\n\n1. 5A 3A 22-46

{ROUND}"2"]\n[Sold "S1"]\n[Result "*"]\n\n*\n"""


def of_trees(result: str, given: Any = None) -> Any:
    """Return the value of the JavaScript expression `result`, which may use `given` and the exports of tree.js."""
    script = f"""
        import {{ readFileSync }} from "node:fs";
        const trees = await import({json.dumps((WEB / "model/tree.js").as_uri())});
        const given = JSON.parse(readFileSync(0, "utf8"));
        console.log(JSON.stringify({result}));
    """
    return json.loads(node.run_script(script, stdin=json.dumps(given)))


def test_trees_are_read_from_links_and_written() -> None:
    texts = ["", "5A3A", TREE, "5Av3Ae", "5A3Av3Cev2Ae1A", "5A3Av3C2Av1A4Aee2A5C"]
    assert of_trees("given.map(text => trees.treeText(trees.parseTree(text)))", texts) == texts
    refused = "given.map(text => { try { trees.parseTree(text); } catch ({ code }) { return code; } return null; })"
    assert of_trees(refused, ["v5Ae", "5Ave", "5Ae", "5B", "(5A)", "5A v3Ce"]) == ["link"] * 6
    assert of_trees("trees.pathsOf(trees.parseTree(given))", TREE) == [[], [0], [0, 0], [0, 1], [0, 1, 0], [0, 1, 1]]


def test_trees_branch_and_change_their_main_line() -> None:
    changes = """(() => {
        const root = trees.parseTree(given), seen = [], note = (path) => seen.push([path, trees.treeText(root)]);
        note(trees.add(root, [0], "4A"));  // which is there
        note(trees.add(root, [0], "1C"));
        note(trees.promote(root, [0, 1, 1]));
        note(trees.remove(root, [0, 1]));
        seen.push(trees.beside(root, [0, 0], 1), trees.beside(root, [0, 0], -1), trees.beside(root, [], 1));
        seen.push(trees.endOf(root), trees.nodesOn(root, [0, 0, 1]).map(({ move }) => move));
        return seen;
    })()"""
    assert of_trees(changes, TREE) == [
        [[0, 0], TREE],
        [[0, 2], "5A4Av3C2Av1Aeev1Ce"],
        [[0, 0, 0], "5A3Cv4Aev1Ce1Av2Ae"],
        [[0], "5A3Cv1Ce1Av2Ae"],
        [0, 1], [0, 0], [],
        [0, 0, 0], ["5A", "3C", "2A"],
    ]  # fmt: skip


def test_moves_that_the_rules_do_not_allow_are_hidden_and_come_back() -> None:
    changes = """(() => {
        const root = trees.parseTree(given), seen = [];
        const without = (...moves) => {
            trees.hideIllegal(root, 3, (left, move) => left && !moves.includes(move) ? left - 1 : null);
            seen.push([trees.treeText(root), trees.hiddenIn(root)]);
        };
        const [shown] = trees.nodesOn(root, [0, 1, 0]);
        without("2A");
        without("4A");
        trees.add(root, [0, 0], "1C");
        const stored = trees.listed(root);
        seen.push(trees.pathTo(root, trees.nodesOn(root, [0, 0])), trees.treeText(trees.unlisted(stored)));
        without("5A");
        without();
        const isDamaged = list => { try { trees.unlisted(list); } catch { return true; } return false; };
        return [...seen, [stored, [[0, null, ""], [9, "1A", ""]], [[0, null, ""], [0, "xA", ""]], 5].map(isDamaged)];
    })()"""
    whole = "5A4Av3C2Av1Aev1Cee"
    assert of_trees(changes, TREE) == [
        ["5A4Av3C1Ae", 1],
        ["5A3C2Av1Ae", 1],
        [0, 0], whole,
        ["", 1],
        [whole, 0],
        [False, True, True, True],
    ]  # fmt: skip


def test_no_change_nests_more_variations_than_a_record_may_have() -> None:
    changes = """(() => {
        const root = trees.parseTree("2Av3Ae"), seen = [];
        const nest = (path, count) => {
            for (; count; count -= 1) path = (trees.add(root, path, "1A"), trees.add(root, path, "2A"));
            return path;
        };
        const attempt = (act) => {
            try { return act(); } catch ({ code, detail }) { return [code, detail.en, detail.vi]; }
        };
        const deep = nest([0], given);
        trees.add(root, deep, "1A");  // goes on in the line
        const text = trees.treeText(root);
        for (const act of [
            () => trees.add(root, deep, "2A"), () => trees.promote(root, [1]), () => trees.parseTree(text) && null,
        ]) seen.push(attempt(act));
        return [...seen, trees.treeText(root) === text, trees.promote(root, deep).length];
    })()"""
    limit = MAX_NESTING
    refused = [
        "request",
        f"at most {limit} variations can lie within one another",
        f"chỉ được lồng nhiều nhất {limit} nhánh phụ vào nhau",
    ]
    assert of_trees(changes, limit) == [refused, refused, None, True, limit + 1]


# ---- in a browser ----------------------------------------------------------------------------------------------------


class Analysis:
    """The analysis board of a person's page."""

    def __init__(self, person: Person) -> None:
        self.page = person.page
        self.page.locator("#analysis[open]").wait_for()

    @property
    def tree(self) -> str:
        """The list of moves; variations are in brackets, and the move shown is between stars."""
        walk = """list => {
            const text = node => [...node.children].map(one =>
                one.tagName === "OL" ? `(${text(one)})`
                : one.tagName === "LI" ? text(one)
                : one.tagName === "I" ? `{${one.textContent}}`
                : one.ariaCurrent ? `*${one.textContent}*` : one.textContent).join(" ");
            return text(list);
        }"""
        return str(self.page.locator("#analysis-tree").evaluate(walk)).removeprefix("Start ")

    @property
    def said(self) -> str:
        return self.page.locator("#analysis-said").inner_text()

    def press(self, name: str) -> None:
        self.page.locator(f"#analysis-{name}").click()

    def play(self, move: str) -> None:
        """Play a move, and wait until it is the current one."""
        board = self.page.locator("#analysis-board")
        board.locator(f".hit.legal[data-field='{move[0]}']").click()
        board.locator(f".way[data-move='{move}']").click()
        self.waits_for(move)

    def waits_for(self, move: str) -> None:
        """Wait until the move shown ends with this text, and its position is on the board."""
        self.page.locator("#analysis-tree [aria-current]", has_text=re.compile(f"{move}$")).wait_for()
        self.page.locator("#analysis-said", has_text=re.compile(rf"{move}\. ")).wait_for()

    def copied(self, name: str) -> str:
        """Press a button that copies a text; return the text."""
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.press(name)
        self.page.locator("#notice:popover-open").wait_for()
        return str(self.page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.slow
def test_a_game_is_analysed_branched_stored_and_shared(visit: Visit) -> None:
    person = visit("#rules=mancala-world&moves=5A&north=human")
    page = person.page
    page.locator(".analyse:visible").click()
    board = Analysis(person)
    for key, move in (("Home", "Start"), ("ArrowRight", "5A")):  # the keys work at once
        page.keyboard.press(key)
        board.waits_for(move)
    board.play("4A")
    page.locator("#analysis-tree [aria-current]").focus()
    page.keyboard.press("ArrowLeft")
    assert board.tree == "*1. 5A* 4A"
    board.play("3C")
    board.play("2A")
    assert board.tree == "1. 5A 4A (3C *2. 2A*)"
    page.locator("#analysis-tree [aria-current]").focus()
    for key, move in (("ArrowLeft", "3C"), ("ArrowUp", "4A"), ("ArrowDown", "3C"), ("Home", "Start"), ("End", "4A")):
        page.keyboard.press(key)
        board.waits_for(move)
        assert page.locator("#analysis-tree [aria-current]").evaluate("node => node === document.activeElement")
    page.locator("#analysis-comment").fill("worse")
    page.keyboard.press("Enter")
    record = board.copied("record")
    assert "1. 5A 4A {worse} (3C 2. 2A)\n*" in record
    assert page.locator("#analysis-tree li", has_text="4A").first.inner_text().startswith("4A worse")
    (read,) = parse_records(record)
    assert [str(move) for move in read.moves] == ["5A", "4A"]
    link = board.copied("link")
    assert link.endswith("#rules=mancala-world&tree=5A4Av3C2Ae&at=2")

    page.reload()  # the analysis comes back
    board = Analysis(person)
    assert board.tree == "1. 5A *4A* {worse} (3C 2. 2A)"
    page.locator("#analysis-tree button", has_text="3C").click()
    board.press("main")
    assert board.tree == "1. 5A *3C* (4A {worse}) 2. 2A"
    board.press("last")
    assert board.tree == "1. 5A 3C (4A {worse}) *2. 2A*"
    board.press("back")
    board.press("remove")
    assert board.tree == "*1. 5A* 4A {worse}"
    page.keyboard.press("Escape")
    assert person.moves == ["5A"]  # the game goes on
    person.play("3A")
    page.locator(".analyse:visible").first.click()
    board = Analysis(person)
    board.waits_for("3A")
    assert board.tree == "1. 5A *3A*"  # another game

    page.locator("#analysis-saved").select_option(index=1)
    board.waits_for("5A")
    assert board.tree == "*1. 5A* 4A {worse}"
    page.keyboard.press("Escape")
    page.evaluate("fragment => { location.hash = fragment; }", link.split("#")[1])
    board = Analysis(person)
    assert board.tree == "1. 5A *4A* (3C 2. 2A)"


@pytest.mark.slow
def test_values_are_searched_on_request_and_other_rules_keep_the_legal_moves(visit: Visit) -> None:
    person = visit("#rules=mancala-world&tree=5A&at=0")
    board, page = Analysis(person), person.page
    assert page.locator(".hint, #analysis-values button").count() == 0
    page.locator("#analysis-valued").check()
    page.locator("div:has(> #analysis-board) > #analysis-values .best").first.wait_for()  # below the board, as it fits
    assert board.said == "Start. With best play South wins by 12 (proved)."
    shown = [text.replace("−", "-").split() for text in page.locator("#analysis-values button").all_inner_texts()]
    values = {move: int(value) for move, value, _ in shown}
    assert [*values.values()] == sorted(values.values(), reverse=True)
    bests = [text.split()[0] for text in page.locator("#analysis-values .best").all_inner_texts()]
    assert sorted(values) == sorted(str(move) for move in Board("mancala-world").legal_moves)
    assert sorted(bests) == sorted(move for move, value in values.items() if value == max(values.values()))
    numbers = sorted(int(text.replace("−", "-")) for text in page.locator("#analysis-board .hint").all_text_contents())
    assert numbers == sorted(values.values())
    page.locator("#analysis-values button", has_text="5A").click()
    board.waits_for("5A")
    page.locator("#analysis-board .hint.best").first.wait_for()

    page.locator("#analysis-valued").uncheck()
    board.play("3C")
    board.play("2A")
    page.locator("#analysis-rules").select_option("tonkin")  # which sows in one direction
    hidden = page.locator("#analysis-hidden", has_text="These rules don’t allow 1 branch: it is hidden and not copied.")
    hidden.wait_for()
    assert board.tree == "*1. 5A*"
    assert board.copied("record").endswith("1. 5A\n*\n")
    page.locator("#notice", has_text="and comments. These rules don’t allow 1 branch").wait_for()
    board.play("4A")
    page.reload()
    board = Analysis(person)
    assert board.tree == "1. 5A *4A*"
    page.locator("#analysis-rules").select_option("vietnamese")
    page.locator("#analysis-tree button", has_text="3C").wait_for()  # comes back
    assert board.tree.replace("*", "") == "1. 5A 3C (4A) 2. 2A"
    assert hidden.is_hidden()


@pytest.mark.slow
def test_texts_are_analysed_and_help_is_given_to_nobody_in_a_game(visit: Visit) -> None:
    person = visit("#rules=mancala-world&north=easy", **PHONE)
    page = person.page
    assert page.locator(".analyse:visible").count() == 0  # a game against the computer
    record = '[Rules "mancala-world"]\n[Result "*"]\n\n1. 5A (1. 1A) 4A {well} (3C)\n*\n'
    texts = {
        "2,3,1,0,0,4*/3,0,1,2,0,0 22,22 0 30": "*Start*",
        record: "*Start* 1. 5A (1. 1A) 4A {well} (3C)",
        "https://example.org/#moves=5A4A": "1. 5A *4A*",
    }
    for text, tree in texts.items():
        page.locator("#share").tap()
        page.locator("#pasted").fill(text)
        page.locator("#analyse-pasted").tap()
        board = Analysis(person)
        assert board.tree == tree
        assert page.locator("#analysis").evaluate("node => node.scrollWidth === node.clientWidth")
        page.locator("#analysis header button").tap()
    page.locator("#share").tap()
    page.locator("#pasted").fill("2,3,1,0,0,4*/3,0,1,2,0,0 22,22 5 30")
    page.locator("#analyse-pasted").tap()
    page.locator("#share-error", has_text=re.compile("^The mover must be 0 to 1")).wait_for()  # the reason first
    page.locator("#pasted").fill(SOLD)
    page.locator("#analyse-pasted").tap()
    person.waits_until("page.state.match?.sold[0] === 1")  # as a match: the analysis board knows no sold squares
    page.locator("#share-dialog:not([open])").wait_for(state="attached")  # closes after the match has begun
    assert page.locator("#analysis").count() == 0
    page.locator("#openings").tap()
    page.locator("#openings-moves button", has_text="4A").first.tap()
    page.locator("#openings-dialog button", has_text="Analyse").tap()
    assert Analysis(person).tree == "*1. 4A*"
