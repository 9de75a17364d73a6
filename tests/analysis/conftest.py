"""TensorBoard's copy of bleach warns of its own future when it is first imported; that is not ours to mend."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "html5lib's sanitizer is deprecated", DeprecationWarning)
    import tensorboard.plugin_util  # noqa: F401
