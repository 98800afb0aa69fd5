"""The top of the page: the result, the numbers to remember, the contents; then the data and the training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ..content import DataFacts, ModelReport
from .bands import bands, leak_warnings
from .candidates import candidates
from .charts import bar_chart
from .markup import Child, Element, datum, facts, figure, node, table, values_list
from .text import count, number, percent, seconds

MAX_COLUMNS = 60
KINDS = {"number": "numeric columns", "words": "categorical columns"}
MAX_CLASSES = 20


def title_of(report: ModelReport) -> str:
    """What the page is called."""
    return f"{report.data.target or 'target'} from {PurePath(report.data.file).name}"


def header(report: ModelReport) -> Element:
    """The title, the answer in a sentence or two, and cards of numbers."""
    e = report.evaluation
    rows = "rows of the training file" if report.seen else "rows"
    low, high = map(percent, e.accuracy_interval)
    sure = "" if report.seen else f"; with 95 % confidence between {low} and {high} on new rows like these"
    lead: list[Child] = [
        f"On {e.n_rows:,} {rows} the model predicts the right class ",
        node("b", f"{percent(e.accuracy)} of the time"),
        f"{sure}. Always predicting the most frequent class would be right {percent(e.majority_share)} of "
        "the time.",
    ]
    parts: list[Child] = [
        node("p", "maxmargin report", class_="over"),
        node("h1", "Predicting ", datum(report.data.target or "the target", 60)),
        node("p", lead, class_="lead"),
    ]
    if report.seen:
        parts.append(
            node(
                "p",
                node("b", "Caution: "),
                "By its SHA-256, this is the file that the model was trained on: the numbers show how "
                "well the model memorised its rows, not how well it does on new ones.",
                class_="warn",
            )
        )
    return node("header", parts, bands(report), cards(report))


def cards(report: ModelReport) -> Element:
    """Up to six numbers, each with what it means."""
    e, facts_of = report.evaluation, report.model.facts
    found = [
        ("accuracy", percent(e.accuracy), f"of {count(e.n_rows, 'row')} predicted correctly"),
        (
            "balanced accuracy",
            percent(e.balanced_accuracy),
            "mean over classes, so that rare ones count as much",
        ),
    ]
    if e.ranking is not None:
        found.append(
            (
                "area under ROC",
                number(e.ranking.roc_auc, 3),
                f"chance that a row of “{e.ranking.positive[:24]}” scores higher than one of the other class",
            )
        )
    found += [
        (f"top-{hit.k} accuracy", percent(hit.accuracy), f"true class among the {hit.k} highest scores")
        for hit in e.top_k
        if hit.k == 5 or (hit.k == 3 and len(e.classes) <= 5)
    ]
    if "n_support_" in facts_of:
        found.append(
            (
                "support vectors",
                number(facts_of["n_support_"]),
                "training rows that a new row is compared with",
            )
        )
    if "dual_gap_" in facts_of:
        found.append(
            (
                "duality gap",
                number(facts_of["dual_gap_"], 2),
                "other coefficients lower the objective by at most this share",
            )
        )
    for promise in report.promises.told:
        if promise.name == "hold-out":
            sure = percent(1 - (promise.delta or 0), 0)
            words = f"for new rows like these: one-sided binomial interval (Clopper-Pearson), {sure}"
            found.append(("error at most", percent(promise.value), words))
    return node(
        "ul",
        [node("li", node("i", name), node("b", value), node("span", words)) for name, value, words in found],
        class_="cards",
    )


def contents(sections: list[tuple[str, str]]) -> Element:
    """Links to the sections."""
    links = [node("li", node("a", title, href=f"#{anchor}")) for anchor, title in sections]
    return node("nav", node("ol", links), aria_label="Contents")


def data_section(report: ModelReport) -> list[Child]:
    """The data: the file evaluated on, the training file, columns and classes."""
    data, trained = report.data, dict(report.record.get("data") or {})
    parts: list[Child] = [
        node("p", "The file that the model is evaluated on, and the file that it was trained on."),
        facts(
            [
                ("evaluated on", datum(data.file, 90)),
                ("rows", count(data.n_rows, "row")),
                ("features", count(data.n_features, "column")),
                ("target", datum(data.target if data.target is not None else "–")),
                (
                    "nonzero entries",
                    None if data.density is None else f"{percent(data.density)} (a sparse matrix)",
                ),
                ("SHA-256", _code(data.sha256)),
                ("trained on", datum(trained.get("file", "not recorded"), 90)),
                ("training rows", _number_or_none(trained.get("n_rows"))),
                ("SHA-256 of the training file", _code(trained.get("sha256"))),
            ]
        ),
    ]
    counts = list(data.class_counts.items())
    shown = counts[:MAX_CLASSES]
    some = (
        f" The {MAX_CLASSES} largest of {len(counts):,} classes are shown."
        if len(counts) > len(shown)
        else ""
    )
    drawing = bar_chart(
        "classes",
        "Rows of each class",
        "; ".join(f"{name}: {n}" for name, n in shown),
        [(name, float(n)) for name, n in shown],
        unit="rows",
    )
    words = f"Rows of each class in the file evaluated on.{some}"
    if data.columns:
        parts.append(facts([_columns(data, kind, name) for kind, name in KINDS.items()]))
    parts.append(node("div", figure(drawing, "Rows of each class", words), class_="figures"))
    notes = [*report.evaluation.notes]
    notes += [
        f"column {name}: {n:,} values unseen in training"
        for name, n in report.evaluation.unseen_words.items()
    ]
    parts += [node("p", "Note: ", datum(note, 400), class_="note") for note in notes]
    return parts


def _columns(data: DataFacts, kind: str, name: str) -> tuple[str, Child]:
    """The columns of a kind, each with how many of its values are missing."""
    own = [column for column in data.columns if column.kind == kind]
    spans = [
        node("span", datum(c.name), node("em", f" {c.n_missing:,} missing") if c.n_missing else None)
        for c in own[:MAX_COLUMNS]
    ]
    more = f"and {len(own) - MAX_COLUMNS:,} more" if len(own) > MAX_COLUMNS else "" if own else "none"
    return f"{name} ({len(own):,})", node("div", spans, node("span", more) if more else None, class_="pairs")


def _code(text: Any) -> Element | None:
    return None if not text else node("code", str(text))


def _number_or_none(value: Any) -> str | None:
    return count(int(value), "row") if isinstance(value, int | float) else None


ENDS = {
    "converged": "the requested gap was reached",
    "budget_full": "the budget of support vectors is used up",
    "no_loss_left": "more support vectors would not have helped",
    "time_limit": "the time limit came before the requested gap",
    "max_iter": "the iteration limit came before the requested gap",
    "stalled": "no further progress was possible",
    "diverged": "the best point of a fit whose coefficients grew without bound",
    "failed": "a certificate contradicted itself",
    "stopped": "stopped by a callback or an interrupt",
}
CLOCKS = {
    "reading": "reading the file",
    "preparation": "one-hot encoding, imputation, standardisation",
    "search": "the choice of parameters on held-out rows",
    "solver": "the fits",
    "validation": "evaluation on the held-out rows",
    "total": "total",
}
MAX_DROPPED = 20


def choice_section(report: ModelReport) -> list[Child]:
    """The parameters, the validation, how the fit ended and the time it took."""
    record = report.record
    if not record:
        return [node("p", "The model file was saved without a record of the training.")]
    parts: list[Child] = [node("p", _asked(record)), *_validated(record)]
    parts += [*leak_warnings(record), *preparation_parts(record), *candidates(record)]
    status = str(record.get("status") or report.model.facts.get("status_") or "")
    choice = record.get("choice") or {}
    parts.append(
        facts(
            [
                (
                    "status",
                    f"{status.replace('_', ' ')}: {ENDS[status]}" if status in ENDS else None,
                ),
                *((str(k).replace("_", " "), _told(v)) for k, v in choice.items()),
            ]
        )
    )
    return parts + times_table(record)


def times_table(record: Mapping[str, Any]) -> list[Child]:
    """The time that each step of the training took."""
    clocks = record.get("seconds")
    if not isinstance(clocks, Mapping):
        return []
    steps = sorted(
        clocks, key=lambda step: (list(CLOCKS).index(step) if step in CLOCKS else len(CLOCKS), step)
    )
    rows = [[datum(k), seconds(clocks[k]), CLOCKS.get(k, "")] for k in steps if _is_number(clocks[k])]
    return [table(["step", "time", "meaning"], rows, caption="Training time", numbers=[1])]


def _asked(record: Mapping[str, Any]) -> list[Child]:
    words: list[Child] = [
        "Model type: ",
        node("b", datum(record.get("model", "–"))),
    ]
    given = record.get("given_parameters") or {}
    if given:
        words.append(" with ")
        words += [node("span", datum(f"{k} = {v}"), "; ") for k, v in list(given.items())[:-1]]
        name, value = list(given.items())[-1]
        words.append(datum(f"{name} = {value}"))
    words.append("." if given else " with its default parameters.")
    if "seed" in record:
        words.append(f" Random seed: {record['seed']}.")
    return words


def _validated(record: Mapping[str, Any]) -> list[Child]:
    """One paragraph: what was held out, what came of it, what the model was then fitted to."""
    held = record.get("validation")
    fitted = f" The final model was trained on {record['fitted_on']}." if record.get("fitted_on") else ""
    if not isinstance(held, Mapping) or not _is_number(held.get("accuracy")):
        return [node("p", f"No rows were held out for validation.{fitted}")]
    low, high = held.get("accuracy_interval") or (None, None)
    between = "" if low is None else f" (with 95 % confidence {percent(low)} to {percent(high)})"
    share, split = record.get("validate"), record.get("split")
    said = f"{percent(share, 0)} of the rows, " if _is_number(share) else ""
    what = f"{said}{count(int(held.get('n_rows', 0)), 'row')} of all classes, were held out for validation. "
    if split:
        what = f"Held out for validation: {split.get('text')}. "
    return [
        node(
            "p",
            what,
            f"A model trained on the others predicted {percent(held['accuracy'])} of them "
            f"correctly{between}; always predicting the most frequent class would have been right for "
            f"{percent(held.get('majority_accuracy'))}.{fitted}",
        )
    ]


def preparation_parts(record: Mapping[str, Any]) -> list[Child]:
    """How the table was turned into a matrix."""
    data = record.get("data")
    if not isinstance(data, Mapping):
        return []
    n_in, n_out = data.get("n_features"), data.get("n_features_out")
    if not (isinstance(n_in, int) and isinstance(n_out, int)):
        return []
    columns = data.get("columns")
    kinds: list[Any] = ["number", "words"]
    if isinstance(columns, list):
        kinds = [column.get("kind") for column in columns if isinstance(column, Mapping)]
    done = ["categories one-hot encoded"] if "words" in kinds else []
    done += ["numbers standardised"] if "number" in kinds else []
    how = f": {', '.join(done)}" if done else ""
    text = (
        f"The {count(n_in, 'feature column')} became {n_out:,} numbers per row{how}; a missing number is "
        "replaced by the mean, and missing values are marked by an indicator where there were any."
    )
    out: list[Child] = [node("p", text), *_dates_and_texts(data)]
    dropped = data.get("dropped")
    if dropped and isinstance(dropped, Mapping):
        out.append(node("p", f"{count(len(dropped), 'column was', 'columns were')} dropped:"))
        out.append(values_list(dict(dropped), MAX_DROPPED))
    return out


def _dates_and_texts(data: Mapping[str, Any]) -> list[Child]:
    """What dates and free text became, if the record says so."""
    dates, texts = data.get("dates") or {}, data.get("texts") or {}
    said: dict[str, object] = (
        {name: ", ".join(map(_plain, used)) for name, used in dates.items()} if _is_table(dates) else {}
    )
    if isinstance(texts, Mapping):
        said |= {name: f"weights of {n:,} words" for name, n in texts.items() if isinstance(n, int)}
    if not said:
        return []
    return [node("p", "Dates became numbers and free text weighted words:"), values_list(said, MAX_DROPPED)]


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, list) for each in value.values())


def _told(value: Any) -> Child:
    """Any value of the record as text."""
    if isinstance(value, Mapping):
        return facts([(str(k).replace("_", " "), _told(v)) for k, v in list(value.items())[:20]])
    if isinstance(value, list | tuple):
        words = ", ".join(_plain(v) for v in value[:12]) + (" …" if len(value) > 12 else "")
        return datum(words, 300)
    return datum(_plain(value), 300)


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float | int) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)
