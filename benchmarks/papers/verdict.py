"""Whether a claim holds, in words for a report."""


def verdict(margin):
    """``margin`` is by how much a claim holds, not negative where it does."""
    return f"{'holds' if margin >= 0.0 else '**does not hold**'}, {margin:+.2f}"
