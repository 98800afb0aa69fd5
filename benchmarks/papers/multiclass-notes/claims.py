"""What the source says, as differences in points of training error: not negative where a claim holds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """``margin`` is by how much it holds; ``numbers`` are what is compared."""

    set: str
    columns: str
    text: str
    margin: float
    numbers: str


def claims(cells):
    """All claims, for each set and kind of column."""
    found = []
    for name, columns in dict.fromkeys(key[:2] for key in cells):
        codes = {key[2]: cell for key, cell in cells.items() if key[:2] == (name, columns)}
        for k, bound in enumerate(("printed", "refined")):
            slack = {code: cell["least_slack"][k] for code, cell in codes.items()}
            tightest = min(slack, key=slack.get)
            text = f"the {bound} bound is above the training error, for every code and fold"
            found.append(Claim(name, columns, text, slack[tightest], f"least for {tightest}"))
        found += [_pairs(name, columns, codes), _distance(name, columns, codes)]
    return found


def _pairs(name, columns, codes):
    ours, rival = (codes[code]["training_error"] for code in ("one-vs-one", "one-vs-rest"))
    text = "one-vs-one has a smaller training error than one-vs-rest"
    return Claim(name, columns, text, rival - ours, f"{ours:.2f} and {rival:.2f}")


def _distance(name, columns, codes):
    share = {code: cell["distance"] / cell["n_columns"] for code, cell in codes.items()}
    largest = max(share, key=share.get)
    errors = {code: cell["training_error"] for code, cell in codes.items()}
    best = min((code for code in codes if code != largest), key=errors.get)
    text = "the code with the largest rho/T has the smallest training error"
    numbers = f"{largest} {errors[largest]:.2f}, {best} {errors[best]:.2f}"
    return Claim(name, columns, text, errors[best] - errors[largest], numbers)
