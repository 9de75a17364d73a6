"""Data with known truth, and logs made of it, shared by tests, benchmarks and the demo."""
