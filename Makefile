# Two commands do everything on a machine with Python 3.10 or later: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
# What is also tested under another Python, if this machine has one (OTHER=path names it).
QUICK = tests/ops/test_against_numpy.py tests/eager tests/ast_transforms tests/jit/test_to_static.py tests/jit/test_training.py
QUICK += tests/jit/test_recompiles.py tests/runtime/test_executor.py tests/runtime/test_launch.py

.PHONY: demo test test-here test-other test-all installed quick soak lint seeds clean

demo: $(VENV)/demo-is-installed
	$(VENV)/bin/python samples/01_if_and_while.py
	$(VENV)/bin/python samples/02_mnist.py

test: test-here test-other

# Two halves side by side, for two cores.
test-here: $(VENV)/tests-are-installed lint
	@$(VENV)/bin/python -m pytest d2s tests/ops tests/programs & half=$$!; \
	$(VENV)/bin/python -m pytest tests --ignore=tests/ops --ignore=tests/programs; other=$$?; \
	wait $$half && exit $$other

test-other: $(VENV)/tests-are-installed | test-here
	@$(call under_another,quick,a part)

# The whole suite under another Python: `make test-all OTHER=python3.13`; without OTHER under the one that `make test` finds.
test-all: $(VENV)/tests-are-installed
	@$(call under_another,test-here,all)

# $(1), a target, once more under another Python, if this machine has one and what the tests need can be had for it.
define under_another
other="$${OTHER:-$$($(VENV)/bin/python tests/another_python.py)}"; \
if [ -z "$$other" ]; then echo "No other Python of 3.10 ... 3.13 was found: tested under one only."; exit 0; fi; \
name=$$("$$other" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 1; \
again="$(MAKE) --no-print-directory PYTHON=$$other VENV=$(VENV)-$$name"; \
if ! $$again installed; then echo "What the tests need cannot be had for Python $$name: tested under one only."; exit 0; fi; \
echo "Also tested: $(2), under Python $$name."; \
$$again $(1)
endef

installed: $(VENV)/tests-are-installed

quick: $(VENV)/tests-are-installed
	$(VENV)/bin/python -m pytest $(QUICK)

# The seed documents' code in full: D2S_SEEDS names their folder, and `data` beside it holds MNIST.
seeds: $(VENV)/tests-are-installed
	D2S_SEEDS_FULL=1 $(VENV)/bin/python -m pytest tests/seeds

# Random programs, eager against static, for hours: `make soak SOAK=1000 SEED=5` tries fewer, and others. What was stopped
# goes on where it stopped, as long as the tree is the same.
SOAK ?= 100000
SEED ?= 1000000
soak: $(VENV)/tests-are-installed
	PYTHONPATH=tests/fuzz:tests/programs $(VENV)/bin/python tests/fuzz/test_random_programs.py soak $(SEED) $(SOAK)
	PYTHONPATH=tests/fuzz:tests/programs $(VENV)/bin/python tests/fuzz/test_changes_outside.py keeping $(SEED) $$(($(SOAK) / 20))
	PYTHONPATH=tests/fuzz:tests/programs $(VENV)/bin/python tests/fuzz/test_changes_outside.py steps $(SEED) $$(($(SOAK) / 20))
	PYTHONPATH=tests/fuzz:tests/programs $(VENV)/bin/python tests/fuzz/test_changes_outside.py calls $(SEED) $$(($(SOAK) / 5))
	PYTHONPATH=tests/fuzz:tests/programs $(VENV)/bin/python tests/fuzz/test_changes_outside.py acting $(SEED) $$(($(SOAK) / 20))

lint: $(VENV)/tests-are-installed
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-is-installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/tests-are-installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.PHONY: interop soak-files
# What needs others' programs: real Paddle of two generations, ONNX Runtime and OpenVINO, each in an environment of its own.
interop: $(VENV)/tests-are-installed
	$(PYTHON) -m venv $(VENV)-paddle26 && $(VENV)-paddle26/bin/python -m pip install --quiet 'numpy<2' paddlepaddle==2.6.2
	$(PYTHON) -m venv $(VENV)-paddle33 && $(VENV)-paddle33/bin/python -m pip install --quiet paddlepaddle==3.3.1
	$(PYTHON) -m venv $(VENV)-onnx && $(VENV)-onnx/bin/python -m pip install --quiet onnx onnxruntime
	$(PYTHON) -m venv $(VENV)-openvino && $(VENV)-openvino/bin/python -m pip install --quiet openvino
	D2S_PADDLE26_PYTHON=$(abspath $(VENV))-paddle26/bin/python D2S_PADDLE33_PYTHON=$(abspath $(VENV))-paddle33/bin/python \
	D2S_ONNX_PYTHON=$(abspath $(VENV))-onnx/bin/python D2S_OPENVINO_PYTHON=$(abspath $(VENV))-openvino/bin/python \
	$(VENV)/bin/python -m pytest tests/export tests/onnx tests/programs/test_programs_in_onnx.py

# Damaged files by the ten thousand.
soak-files: $(VENV)/tests-are-installed
	D2S_SOAK=50000 $(VENV)/bin/python -m pytest tests/export/test_paddle_safety.py tests/export/test_damaged_genuine.py \
	tests/jit/test_damaged_training.py

clean:
	rm -rf $(VENV) $(VENV)-3.* $(VENV)-paddle* $(VENV)-onnx $(VENV)-openvino .pytest_cache .mypy_cache .ruff_cache .soak *.egg-info
