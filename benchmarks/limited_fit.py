"""One fit in a process of its own, which is ended at a time limit: its times and its dual value."""

import multiprocessing
import resource
import time
import warnings

import numpy as np
from svm_certificate import certificate
from svm_methods import METHODS

N_CORES = 2
WARM_UP_ROWS = 100  # of each class: a first fit, which loads libraries and starts threads


def estimator(method, C, gamma, tol, cache_mb, limit):
    """An rbf SVM of a method at a tolerance."""
    if method == "maxmargin":
        from maxmargin import KernelSVC

        cache = "auto" if cache_mb is None else cache_mb
        return KernelSVC(
            C, gamma=gamma, tol=tol, cache_mb=cache, max_iter=10**9, max_seconds=limit, n_jobs=N_CORES
        )
    if method == "intelex":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    return SVC(C=C, gamma=gamma, tol=tol, cache_size=cache_mb or 1000)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def fitted(method, X, y, options):
    """The facts about one fit; ``options`` are C, gamma, tol, cache_mb, limit and whether to ``certify``."""
    parameters = [options[key] for key in ("C", "gamma", "tol", "cache_mb", "limit")]
    first = np.concatenate([np.flatnonzero(y == c)[:WARM_UP_ROWS] for c in np.unique(y)])
    model = estimator(method, *parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator(method, *parameters).fit(X[first], y[first])
        start, start_cpu = time.perf_counter(), processor_seconds()
        model.fit(X, y)
        seconds, cpu = time.perf_counter() - start, processor_seconds() - start_cpu
    facts = {"seconds": seconds, "cpu_seconds": cpu, "n_support": len(model.support_)}
    if getattr(model, "status_", "") == "time_limit" or seconds > options["limit"]:
        return facts | {"limit": True}
    if options.get("certify"):
        columns = METHODS[method].columns(model, y)
        found = certificate(X, y, columns, options["C"], options["gamma"])
        facts |= {key: found[key] for key in ("dual", "gap", "imbalance")}
    return facts


def limited_fit(method, X, y, **options):
    """``fitted`` in a forked process; a fit that exceeds ``limit`` seconds counts as exactly that long."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work():
        try:
            sender.send(fitted(method, X, y, options))
        except Exception as error:
            sender.send({"failure": f"{type(error).__name__}: {error}"})

    process = context.Process(target=work)
    process.start()
    sender.close()
    certifying = 5.0 if options.get("certify") else 1.0
    answered = receiver.poll(certifying * options["limit"] + 60)
    facts = receiver.recv() if answered else {"limit": True}
    process.kill()
    process.join()
    if facts.get("limit"):
        facts |= {"seconds": options["limit"], "cpu_seconds": N_CORES * options["limit"]}
    return facts
