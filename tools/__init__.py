"""Programs that write generated files of the repository, or check the sizes of its parts and the power of its tests.

WEB is oanquan_env/play/web.

| `python -m tools.` | writes | run it after a change of |
|---|---|---|
| `webassembly` | WEB/engine.wasm, WEB/moves.wasm, WEB/engine.json | compiled functions of the engine or search |
| `write_page` | most files in WEB/data, and the lists of the page's files | the page, rules, value nets |
| `write_puzzles` | WEB/data/puzzles-PRESET.json | a preset; then run `write_page` |
| `write_par` | WEB/data/par.json, the daily positions | a certificate; then run `write_page` |
| `write_docs` | generated parts of README.md and docs, reports, cards of agents, suites | names, docstrings, results |
| `write_pictures` | boards in docs/img, charts in experiments/results | how boards are drawn, results |
| `mutants` | a file with changes of the code, and the test that notices each | many tests |
| `line_budgets` | nothing; fails if a part of the repository has too many lines | any code |

`write_page` and `write_docs` have the option `--check`, and CI runs both: it fails if a generated file is out of date.
`write_page` uses `page_lists` (which files the page loads and caches), and `write_docs` uses `docs_from_code`,
`docs_alternatives` and `docs_croissant` (the parts that it writes). `page_bundle` joins the page's scripts for the
published site, and `puzzle_themes` finds the themes of a puzzle.
"""
