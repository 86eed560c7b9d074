.PHONY: check test docs page release

check: node_modules # about five minutes on two cores
	ruff check .
	ruff format --check .
	npm run --silent check
	mypy
	lint-imports
	python -m tools.line_budgets
	python -m pytest -q

node_modules: package.json # Prettier and ESLint
	npm install
	touch node_modules

test: check
	python -m pytest -q --dist loadfile -m "slow or daily"

docs: # into build/site
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict

page: # the data and the scripts of the page in the browser, and the tables of the documentation
	python -m tools.write_page
	python -m tools.write_docs

release: # the wheel and the source, into dist
	python -m build
