"""What is said about a model: after training, and by ``inspect``, from its record."""
