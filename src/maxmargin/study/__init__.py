"""What the command line does, without printing: training, evaluation, comparison, paths."""
