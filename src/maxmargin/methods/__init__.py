"""One folder for each method: its estimator, its problem and certificate, its solver."""
