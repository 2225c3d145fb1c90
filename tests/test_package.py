"""Rules for the whole package."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import neurogated

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "neurogated").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

# Numbers without influence on behaviour: none, one, the other direction, and twice.
NEUTRAL_NUMBERS = {0, 1, -1, 2}
# Named constants outside the configuration. Each depends on something that no user can set.
FIXED_CONSTANTS = {
    "core/filters.py": {"_DEEPEST"},  # the depth of Python's stack
    "core/kernel.py": {"MAX_WEIGHT", "NEUTRAL"},  # the definition of a kernel
    "cli/parser.py": {"_COLUMN"},  # of a terminal
    "cli/app.py": {"EXIT_OK", "EXIT_FAILED", "EXIT_USAGE", "EXIT_INTERRUPTED"},  # conventions of shells
    "core/edge_type.py": {"_MOST_TYPES"},  # a width of the file format
    "core/sentiment.py": {"_DIGITS"},  # of a file
    "retrieval/dimensions.py": {"_MOST_AT_A_PLACE"},  # the cost of a lookup
    "retrieval/dormancy.py": {"_DEEPER"},  # a search that starts again
    "core/model.py": {"_DEEPEST", "MOST_COUNTED", "LAST_POSITION", "DEFAULT_IMPORTANCE"},  # columns; a default
    "core/node_kind.py": {"_MOST_KINDS"},  # a width of the file format
    "core/column_view.py": {"_MANY_SCOPES"},  # the faster of two equal methods
    "core/scope_rows.py": {"_FILTERS", "_ROOM"},  # a cache; an array that grows
    "core/cache_file.py": {"_PRIMARY_CODE", "_CLEARINGS", "_EVICTED_AT_ONCE", "_STEP"},  # SQLite's; short transactions
    "context/model.py": {"CONTEXT_TOKENS"},  # the default of an argument
    "core/clock.py": {"_EPOCH", "_MOST_STEPS", "MICROS_A_DAY"},  # the time zero of the file format; of a drawn curve
    "cli/chat.py": {"_WIDTH", "_TEXT_WIDTH", "_ORIGIN_WIDTH"},  # of the terminal
    "cli/doctor.py": {"_LEAST_FREE_GIB", "_GIB", "_MILLISECONDS"},
    "cli/list_.py": {"_PAGE"},  # the default of a flag
    "cli/energy.py": {"_DAYS", "_STEPS", "_BAR"},  # the chart
    "cli/tiers.py": {"_TOP", "_DAYS", "_STEPS"},  # defaults of flags; the chart
    "cli/arguments.py": {"_CENTURY"},  # within the calendar
    "viewer/tiers.py": {"_WHOLE"},  # percent
    "viewer/conflicts.py": {"_SHOWN", "_AROUND", "_MOST", "_LEFT", "_WIDE", "_WHOLE"},  # how text and charts are drawn
    "tiers/manager.py": {"_DAY", "_WEEK", "_DECAYING_ENERGY", "_FEW_USES"},  # the definitions of the layers
    "cli/settings.py": {"_WIDTH"},
    "cli/demo.py": {"_DAYS", "_DAYS_A_LINE", "_BAR"},  # the demonstration
    "embedding/export.py": {"_MIN_COSINE", "_PROBES"},  # trust in an export
    "embedding/export_cache.py": {"_UNUSED_DAYS"},  # longer than the idle time of a model in use
    "embedding/exported_model.py": {"_BLOCK"},  # blocks of processors, measured in docs/adr/0013
    "embedding/onnx_runtime.py": {"_OPSET"},  # a version of a format
    "embedding/word_pieces.py": {"_LONGEST_WORD", "_REMEMBERED", "_HAN"},  # the tokenizer's definition; a cache
    "embedding/hash_embedder.py": {"DIMENSION", "_BYTES_PER_HASH"},  # part of the embedder's name; size of a hash
    "evaluation/gold.py": {"_BEGINNING"},  # quoted characters of a passage
    "evaluation/locomo.py": {"_ADVERSARIAL"},  # a number of LoCoMo's format
    "evaluation/metrics.py": {"RECALL_CUTOFFS", "PERCENT", "_MILLISECONDS", "_HIGH_QUANTILE", "_MEDIAN"},  # reporting
    # The layout of SQLite's log
    "storage/log/sqlite/integrity.py": {"_LOG_HEADER", "_SALTS_AT", "_SALTS_SIZE", "_FRAME_HEADER", "_FRAME_SALTS_AT"},
    # Weights of the offline analysers. Their tests measure them on labelled texts, so nobody needs to set them.
    "ingestion/causal_patterns.py": {"STRONG", "FIRM", "WEAK"},
    "ingestion/causal_words.py": {"_WORDS_A_CHARACTER", "_WORDS_A_LONE_CHARACTER", "_MIN_STEM", "_REMEMBERED"},
    "ingestion/causality.py": {
        "_REACH", "_PHRASE_SHARE", "_CLAUSE_SHARE", "_LONG_SHARE", "_LONG", "_INDIRECT", "_OVERLAP_GAIN", "_QUOTED",
    },
    # Thresholds, confidences and sizes of the judge of pairs; `benchmarks.dissonance` measures them.
    "conflict/checker.py": {"_CERTAIN"},
    "conflict/claims.py": {"_BEFORE", "_LEAST", "_CONFIDENCE"},
    "conflict/questions.py": {"_LONGEST", "_ENOUGH"},  # of a quotation
    "conflict/alignment.py": {"_LEAST_STEM", "_LEAST_PREFIX", "_INFLECTED", "_LONGEST"},
    "conflict/exclusive.py": {"_NEAREST", "_MARGIN", "_MOST_WORDS", "_REMEMBERED"},
    "conflict/facts.py": {"_SHORT"},
    "conflict/guards.py": {
        "_MISSING", "_MOST_MISSING", "_ALIKE", "_BESIDES", "_CLOSE", "_FEW", "_NEAR_WORDS", "_NEAR_TEXTS",
        "_NEAR_THINGS", "_SAME_WORDS", "_SAME_THINGS", "_WHOLE",
    },
    "conflict/judge.py": {"_MOST_SENTENCES", "_MOST_CHARACTERS", "_WHOLE"},
    "conflict/answers.py": {"_ENOUGH"},
    "conflict/backlog.py": {"_FAILURES", "_NEVER", "_READ"},
    "conflict/model_judge.py": {"_LONGEST_REASON", "_READ"},  # of a quotation
    "conflict/uncertain.py": {"_LEAST", "_ROUNDS"},
    "conflict/meanings.py": {"_REMEMBERED", "_SHORTEST"},
    "conflict/moments.py": {"_NOON", "_SHORT_YEAR", "_CENTURY", "_HALF_HOUR"},
    "conflict/quantities.py": {"_TOLERANCE", "_TEN", "_TWENTY", "_HUNDRED", "_MULTIPLES", "_REACH", "_LEAST_FORM"},
    "conflict/slots.py": {"_JOINED", "_EQUAL_VALUES", "_MOST_SUBJECT", "_REMEMBERED"},
    "conflict/specificity.py": {"_DETAILED", "_MOST_WORDS"},
    "conflict/statement.py": {"_REMEMBERED"},
    "conflict/states.py": {"_REMEMBERED", "_LONGEST"},  # of a sentence
    "conflict/tokens.py": {"_REMEMBERED"},
    "conflict/verdicts.py": {"_SURE", "_LIKELY", "_LOW"},
    "conflict/word_relations.py": {"_DEPTH", "_PERSON_DEPTH", "_REMEMBERED"},
    # The longest headings and names
    "ingestion/titles.py": {"_LONGEST_HEADING", "_LONGEST_HAN_HEADING", "_MOST_WORDS"},
    "ingestion/first_subject.py": {"_MOST_WORDS", "_MOST_TERM_WORDS"},
    "ingestion/aliases.py": {"_THREE"},
    "ingestion/entities.py": {"_LONGEST_TERM", "_LONGEST_NUMBER"},
  # of a file
    "core/places.py": {"_REACH"},  # characters before a name
    "ingestion/importance.py": {"_MOST_KEYWORDS", "_MOST_PLACES", "_TOLD_BEFORE"},  # scales of fitted features
    "core/language.py": {"_ENOUGH"},  # characters that identify a language
    "ingestion/foreign_names.py": {"_LONGEST_NUMBER", "_LONGEST_JOINT", "_LONGEST_GERMAN_NAME"},  # of grammar
    "ingestion/sessions.py": {"_STEP", "_FIRST"},  # room between positions
    "ingestion/duplicates.py": {"_BEGINNING"},  # forms of a word
    "ingestion/writer.py": {"_ATTEMPTS"},  # more attempts are rare; the last runs under the lock
    "core/quoting.py": {"_BYTES_A_TOKEN"},  # an upper estimate; callers count exactly
    "llm/bounds.py": {"_THOUGHT_TOKENS", "_CHARACTERS_A_TOKEN", "_FRAME"},  # upper estimates; see prompts
    **{
        f"prompts/templates/{name}.py": {"SCHEMA"}
        for name in (
            "causal_extraction", "consolidation", "contradiction", "importance", "kernel_generation", "ner", "qa",
        )
    },
    "plasticity/plasticity_engine.py": {"_SHORTEST_DECAY", "_DECAY_STEPS"},  # the steps of time
    "retrieval/neuro_retriever.py": {"_MAX_WAIT"},  # longer than a recall
    "retrieval/turns.py": {"_SPARE"},  # rows read for each row that is used
    "retrieval/question_cues.py": {"_LONGEST_END"},
    "retrieval/question_kinds.py": {"_STATEMENT_STRENGTH"},
    "retrieval/regression.py": {  # the precision of a fit
        "TOLERANCE", "_MAX_ITERATIONS", "_MEMORY", "_LEAST_DECREASE", "_SHORTER", "_SHORTEST",
    },
    "retrieval/question_learning.py": {
        "_CUE_SCALE", "_JOINT_FREEDOM", "_MEANING_FREEDOM", "_SHARE",
    },
    "projections/redis_canvases.py": {"_AT_ONCE"},  # commands in a batch
    "tiers/canvas.py": {"_MINUTES_A_DAY"},
    "compose.py": {"_CANVAS_HALF_LIVES"},  # the size of a share that no longer counts
    "projections/fact_table.py": {"_AT_ONCE", "_MILLISECONDS"},  # rows in a batch; a unit
    "llm/structured.py": {"_SHOWN"},  # quoted characters of a wrong answer
    "cli/output.py": {"_WIDTH"},  # the layout of a line
    "storage/log/sqlite/loading.py": {"NOW", "UNCHANGED"},  # the largest number SQLite holds
    # The rounding of single precision, batch sizes, and measured bounds
    "storage/index/vectors/search.py": {
        "_ROUNDING_ERROR",
        "_SPARE",
        "_AT_ONCE",
        "_GATHERED",
        "_WIDENING",
        "_SCATTERED",
    },
    "storage/index/vectors/state.py": {"_SAMPLES", "_AT_ONCE", "_GROWTH"},
    "storage/index/vectors/centroids.py": {"_ROUNDS", "_AT_ONCE"},
    "storage/index/vectors/slots.py": {"_BYTE_SHIFT", "_BYTE_MASK"},  # bits of a byte
    # Number formats, measured step sizes, and batch sizes
    "storage/index/vectors/matrix.py": {"_LARGEST", "_BLOCK", "_AT_ONCE", "_LEAST_ROOM"},
    "storage/checkpoint/array_files.py": {"_WORTH_MAPPING"},  # arrays that are faster to map than to read
    "storage/index/vectors/inverted_lists.py": {"_ID_SIZE", "_BY_QUERY"},  # FAISS's format and modes
    # The layout of the keyword index, measured in docs/adr/0015
    "storage/index/text/posting_table.py": {"MEMTABLE_TEXTS", "_RATIO", "_SHORT_MERGE", "_MOST_SEGMENTS"},
    "storage/index/text/segment.py": {"_DENSE_SHARE", "_HALF_BITS"},
    "storage/index/text/term_lookup.py": {"_FEW", "_LATEST", "_WIDENING"},
    "storage/checkpoint/checkpointer.py": {"_SHARE", "_OPERATOR_SHARE", "_PATIENCE"},  # measured in docs/adr/0016
    "storage/checkpoint/checkpoints.py": {"_READ_AT_ONCE"},  # batch size
    "storage/log/sqlite/catch_up.py": {"_VECTORS_AT_ONCE"},
    "storage/index/text/best_texts.py": {"_ROUNDINGS", "_GROWTH", "_FEW", "_SAMPLE", "_WORTH_SCORING"},
    "storage/index/text/table_files.py": {"_RATIO", "_FORMAT"},
    "storage/index/text/term_dictionary.py": {"_REMEMBERED"},
    # Of calendars
    "retrieval/time_spans.py": {
        "_MOST_DAYS", "_WEEK", "_YEAR", "_SATURDAY", "_DAYS_OF_A_YEAR", "_SHORTER_THAN_A_MONTH",
    },
    "storage/index/text/bm25.py": {"_K1", "_B", "_EXACT_LENGTHS", "_LENGTH_BITS", "IMPACT_STEPS", "_AT_ONCE", "_FEW"},
    "storage/index/graph_index.py": {"_INDEX_CHUNK"},  # texts in a batch
    "core/rendering.py": {"_LONGEST_SUBJECT"},  # the longest name
    "core/turns.py": {"_SHORT"},  # the meaning of stored tags
    "ingestion/labels.py": {"_LONGEST"},  # the longest name
    "retrieval/called_names.py": {"_LEAST_CALLS", "_OWN_NAME"},  # the confidence of a learned name
    "viewer/layout.py": {  # pixels
        "_SENDER_WIDTH", "_SENDER_HEIGHT", "_MEMORY_WIDTH", "_MEMORY_HEIGHT", "_GAP", "_ROW_GAP", "_GROUP_GAP",
        "_MARGIN", "_BOW", "_BOW_SHARE", "_HEAD", "_MIN_STROKE", "_MAX_STROKE", "_SLOT", "_LABEL_SLOT", "_LETTER",
        "_OVERHANG", "_LABELS", "_FAINT_SHARE",
    },
    "viewer/page.py": {"_LABEL", "_SHOWN", "_MOST", "_PERCENT", "_LISTED"},  # how text is cut for the eye
    "viewer/sums.py": {"_DIGITS", "_STEPS", "_LARGEST", "_NOISE"},  # the digits that are shown
    "storage/log/sqlite/connection.py": {  # SQLite's format; longer than any commit; batch size
        "RESERVED_BYTES", "_BUSY_MILLISECONDS", "_ROWS_AT_ONCE",
    },
    "storage/log/sqlite/reembed.py": {"_AT_ONCE"},  # texts in a batch
    "core/forking.py": {"_PATIENCE_SECONDS"},  # longer than a write
    "storage/live_graph.py": {"_LOOKS", "_LOOK_SECONDS"},  # how often a lock is tried
    # File permissions; pauses between two attempts, which cost almost nothing; a line of fixed length
    "storage/log/sqlite/process_lock.py": {"_MODE", "_FIRST_PAUSE", "_LONGEST_PAUSE", "_DIGITS"},
    "storage/log/sqlite/file_guard.py": {"_SHARED_FIRST", "_SHARED_SIZE", "_IN_USE_AT"},  # the bytes that SQLite locks
    # Nodes or edges in a batch
    "core/edge_columns.py": {"_AT_ONCE"},
    "plasticity/undo.py": {"_AT_ONCE"},
    "storage/verify.py": {"_AT_ONCE"},
    "storage/log/records.py": {"_AT_ONCE"},
    "core/ports.py": {"SCORE_TOLERANCE"},  # of single precision
    "core/arguments.py": {"_PRINTABLE_BITS", "_SHOWN"},  # of Python; quoted characters of a value
    # SQLite's file format.
    "storage/log/sqlite/sealing.py": {"_HEADER_SIZE", "_PAGE_SIZE_AT", "_PAGES_AT", "_LARGEST_PAGE"},
    # A line of fixed length; file permissions
    "storage/log/sqlite/commit_watermark.py": {"_DIGITS", "_LONGEST", "_MODE", "_PARTS"},
    "storage/log/sqlite/schema.py": {  # the file format
        "FORMAT_VERSION", "APPLICATION_ID", "_HEADER_SIZE", "_USER_VERSION_AT", "_APPLICATION_ID_AT", "_RESERVED_AT",
    },
}  # fmt: skip


def _name(path: Path) -> str:
    return path.relative_to(ROOT / "src" / "neurogated").as_posix()


def _numbers(tree: ast.AST, allowed: set[str]) -> Iterator[ast.Constant]:
    """Yield the numbers in `tree` that stand neither in an allowed constant nor for a width of a format."""
    for node in ast.iter_child_nodes(tree):
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        names = {t.id for t in targets for t in ast.walk(t) if isinstance(t, ast.Name)}
        if (names and names <= allowed) or isinstance(node, ast.FormattedValue):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            yield node
        yield from _numbers(node, allowed)


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if "config" not in p.parts and "testing" not in p.parts], ids=_name
)
def test_no_number_that_changes_behaviour_lives_outside_the_configuration(path: Path) -> None:
    allowed = FIXED_CONSTANTS.get(_name(path), set())
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [
        f"line {node.lineno}: {node.value!r}" for node in _numbers(tree, allowed) if node.value not in NEUTRAL_NUMBERS
    ]
    assert found == []


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_FILE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= MAX_FUNCTION_LINES, f"{node.name} has {lines} lines"


def test_every_public_name_is_exported_listed_and_importable() -> None:
    assert neurogated.__all__ == sorted(neurogated.__all__)
    for name in neurogated.__all__:
        assert getattr(neurogated, name) is not None
    assert set(neurogated._HOMES) == set(neurogated.__all__) - {"__version__"}
    assert dir(neurogated) == sorted(neurogated.__all__)
    for name, home in neurogated._HOMES.items():
        assert name in importlib.import_module(f"neurogated.{home}").__all__
    with pytest.raises(AttributeError, match="nonsense"):
        _ = neurogated.nonsense


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_every_module_lists_its_public_names(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "every module needs a docstring"
    defined = {
        n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and not n.name.startswith("_")
    }
    if defined:
        module = importlib.import_module("neurogated." + _name(path).removesuffix(".py").replace("/", "."))
        assert defined <= set(module.__all__), "a public name that is not listed is not meant to be public"


@pytest.mark.parametrize(
    "statement", ["import neurogated", "from neurogated import NeuroGraphMemory, MemoryConfig, Recall"]
)
def test_importing_loads_no_model_library_and_has_no_side_effect(statement: str, tmp_path: Path) -> None:
    script = (
        "import os, sys, logging; before = dict(os.environ), logging.root.handlers[:]\n"
        f"{statement}\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'openai', 'pandas', 'igraph', 'sklearn'}\n"
        "heavy |= {'matplotlib', 'faiss', 'scipy', 'jinja2', 'spacy', 'openvino', 'onnxruntime', 'tokenizers'}\n"
        "heavy |= {'sqlalchemy', 'psycopg', 'redis'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert before == (dict(os.environ), logging.root.handlers[:])\n"
        "assert not os.listdir('.')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)


def test_requirements_name_every_dependency_with_the_same_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    required = {line.split("#")[0].strip() for line in lines if line and not line.startswith("#")}
    assert set(project["dependencies"]) <= required
    users_list = [
        "numpy",
        "scikit-learn",
        "openai",
        "python-igraph",
        "pandas",
        "tqdm",
        "pytest",
        "torch",
        "sentence-transformers",
    ]
    assert {re.split("[<>=]", line)[0] for line in required} >= set(users_list)


def test_no_module_prints_but_the_command_line() -> None:
    for path in SOURCES:
        if "cli" not in path.parts:
            calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
            assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path


def test_nothing_is_caught_blindly() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            # A caller's callback may raise anything. It runs after the write. An error in a thread is raised outside.
            if isinstance(node, ast.ExceptHandler) and path.name not in {"runtime.py", "deadline.py"}:
                caught = ast.unparse(node.type) if node.type else "everything"
                reraises = any(isinstance(n, ast.Raise) and n.exc is None for n in ast.walk(node))
                assert caught not in {"everything", "Exception", "BaseException"} or reraises, f"{path}: {caught}"
