"""Solvers: functions from a problem to a certified result."""
