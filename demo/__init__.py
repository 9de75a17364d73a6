"""A real training with real causes of slowness: what `make demo` runs, and what the end-to-end tests look at."""

import os

# Before torch is imported: keeps its tracer's chatter out of the progress.
os.environ.setdefault("KINETO_LOG_LEVEL", "5")
