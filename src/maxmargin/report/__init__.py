"""One self-contained page about a model."""
