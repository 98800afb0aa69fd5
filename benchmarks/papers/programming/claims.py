"""What the source claims, as differences in points of accuracy: positive where a claim holds."""

from dataclasses import dataclass

CLOSE = 1.5  # points within which we call accuracies close; the source gives no number
REFERENCE = "kernel SVM"


@dataclass(frozen=True)
class Claim:
    """``margin`` is by how much it holds; ``numbers`` are what is compared."""

    set: str
    text: str
    margin: float
    numbers: str


def claims(records):
    """All claims that these records say something about."""
    accuracy = {(r["set"], r["group"], r["method"]): r["accuracy"] for r in records}
    found = []
    for name in dict.fromkeys(r["set"] for r in records):
        exact = accuracy.get((name, "kernel", REFERENCE))
        if exact is None:
            continue
        for method in ("eigen + L1 SVM", "eigen + Lagrangian SVM"):
            ours = accuracy.get((name, "kernel", method))
            if ours is not None:
                found.append(
                    Claim(
                        name,
                        f"{method} is close to the {REFERENCE}",
                        ours - exact + CLOSE,
                        f"{ours:.2f} and {exact:.2f}",
                    )
                )
        linear = accuracy.get((name, "linear", "1-norm SVM"))
        program = accuracy.get((name, "linear", "L1 SVM"))
        if linear is not None and program is not None:
            text = "the linear program is as good as the quadratic one for linear functions"
            found.append(Claim(name, text, program - linear + CLOSE, f"{program:.2f} and {linear:.2f}"))
    return found
