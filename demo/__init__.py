"""A real training with real causes of slowness: what `make demo` runs, and what the end-to-end tests look at."""
