"""Data files in, model files in and out."""
