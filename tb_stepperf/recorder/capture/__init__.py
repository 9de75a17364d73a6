"""Windows of `torch.profiler`: started, stopped and exported in the loop's thread, all else on the background one.

`captures.py` is what the loop touches, at step boundaries. `profile.py` is torch's profiler with our bookkeeping
(`rounds.py`), `handler.py` the same for a profiler of the loop's own, `others.py` sees profilers that must not be
disturbed. `tracefile.py` compresses and places the files. `decisions.py` decides, from the rows that are written
anyway, when a window is worth its price; `slow.py` knows what a slow step is, and `peers.py` asks the other ranks.
"""
