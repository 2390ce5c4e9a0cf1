# Needs Python 3.11+ and nothing else; everything is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo serve test lint bench eval docs clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $(READY)

# DEMO_MODEL=0.5b takes a smaller model; API_BASE=http://HOST:PORT/v1 uses a server you have.
demo: $(READY)
	$(BIN)/responsa demo

# The answer service over the sample documents, with the same choices; RESPONSA_PORT=8001 takes another port. Ctrl-C ends
# it and its model server.
serve: $(READY)
	$(BIN)/responsa demo --serve

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The suite takes half the time in two processes; WORKERS=0 runs it in one.
WORKERS ?= 2
test: lint
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term

# Each runs alone too: python benchmarks/search.py --help
BENCHMARKS := repack memory client_stream synthesis ingest search service client:streams client:first-token client:tokens \
	refine_policies
bench: $(READY)
	for run in $(BENCHMARKS); do \
		echo "== $$run"; $(BIN)/python benchmarks/$${run%%:*}.py $$(echo "$$run" | sed -n 's/.*://p') || exit 1; done

# Asks a real model and prints a report; it passes or fails nothing. EVAL="--model 0.5b" takes a smaller model.
eval: $(READY)
	$(BIN)/python evals/rewriting.py $(EVAL)

# Fills the pages that show what the program itself says.
docs: $(READY)
	$(BIN)/python docs/cli_help.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .coverage
