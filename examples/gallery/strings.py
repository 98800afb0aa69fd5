"""
Can it classify strings?
========================

A kernel is any function of two lists of objects. This one counts the three-letter pieces that two sequences
share; the support vectors are sequences, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from maxmargin import SparseKernelClassifier

pieces = HashingVectorizer(analyzer="char", ngram_range=(3, 3), alternate_sign=False, n_features=2**12)


def spectrum(A, B):
    """The matrix of shared pieces."""
    return (pieces.transform(A) @ pieces.transform(B).T).toarray()


rng = np.random.default_rng(0)
kind = rng.integers(2, size=400)
shares = [[0.2, 0.3, 0.3, 0.2], [0.3, 0.2, 0.2, 0.3]]  # of A, C, G, T in each kind
dna = ["".join(rng.choice(list("ACGT"), size=60, p=shares[k])) for k in kind]
model = SparseKernelClassifier(8, kernel=spectrum, random_state=0).fit(dna[:300], kind[:300])
print(f"accuracy {model.score(dna[300:], kind[300:]):.2f} with", model.support_vectors_[0], "and 7 more")

fig, ax = plt.subplots()
scores = model.decision_function(dna[300:])
ax.hist([scores[kind[300:] == k] for k in (0, 1)], bins=20, label=["few A and T", "many A and T"])
ax.set(xlabel="score of a new sequence", ylabel="sequences")
ax.legend()
plt.show()
