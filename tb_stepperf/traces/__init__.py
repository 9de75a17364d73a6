"""Reads `torch.profiler` traces of any size: a file in, a small summary out."""
