"""
Can a model file be read without the library?
=============================================

A model file is a zip of a JSON header and ``.npy`` arrays. NumPy and the standard library are enough to
compute its outputs.
"""

import io
import json
import zipfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import KernelSVC, save

X, y = make_moons(200, noise=0.2, random_state=0)
model = KernelSVC(C=10, gamma=2.0).fit(X, y)
file = "moons.mm"
save(model, file)

with zipfile.ZipFile(file) as archive:  # from here on without maxmargin
    content = json.loads(archive.read("header.json"))["content"]["model"]["fitted"]
    arrays = {n: np.load(io.BytesIO(archive.read(n))) for n in archive.namelist() if n.endswith(".npy")}


def array(name):
    """An attribute of the model that is an array."""
    return arrays[content[name]["array"] + ".npy"]


squares = ((X[:, None, :] - array("support_vectors_")) ** 2).sum(axis=2)
outputs = np.exp(-2.0 * squares) @ array("dual_coef_").ravel() + array("intercept_")
print("largest difference:", abs(outputs - model.decision_function(X)).max())

fig, ax = plt.subplots()
ax.plot(model.decision_function(X), outputs, ".")
ax.set(xlabel="decision_function of the library", ylabel="computed from the file alone")
plt.show()
