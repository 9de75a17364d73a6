"""How uncertain an average of successive steps is when neighbours resemble each other.

The variance of a mean of n autocorrelated values is not σ² / n but λ / n with λ, the *long-run variance*, the sum of
all autocovariances. Two estimates that fail in different ways are made, and the wider interval is used:

* an AR(1)-plus-white model, fitted to the autocorrelation of normal scores: sharp for short memory, up to φ = 0.98;
* the mean square of the `NUM_COSINES` slowest cosine coefficients (equal-weighted cosine estimator; Lazarus, Lewis,
  Stock and Watson 2018): catches slow wander that no short lag shows. It is a variance on that many degrees of
  freedom, so its interval takes a wider t.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tb_stepperf.statistics.comparison.student import normal_quantile, normal_scores, t_grid

NUM_COSINES = 7
"""Cosine coefficients, and the degrees of freedom of that estimate."""

TAIL_COSINES = 10
"""The same for the quantiles of a tail."""

LONE_COSINES = 16
"""The same where the cosines stand alone."""

_MODEL_DF = 60.0
_MAX_LAG = 48
_MIN_Z = 2.0
"""Of the fitted strength, without memory a standard normal; below it, a memory is not there."""

_MAX_GROUPS = 2048
_MAX_FITTED = 2**16
"""Steps that tell the short lags well enough; of a longer series, those in the middle."""

_PHI = np.concatenate([np.arange(0.0, 0.9, 0.05), np.arange(0.9, 0.991, 0.01)])


@dataclasses.dataclass(frozen=True)
class LongRunVariance:
    """The two estimates for a series, and how far they reach.

    Attributes:
        model: from the AR(1)-plus-white model; 0 where it does not apply.
        cosine: from the slowest cosines.
        num_cosines: how many, the degrees of freedom of `cosine`.
        num_values: length of the series.
    """

    model: float
    cosine: float
    num_cosines: int
    num_values: int

    def reach(self) -> np.ndarray:
        """Returns the half width of the interval of the series' mean at each level of `Z_GRID`."""
        model = t_grid(_MODEL_DF) * math.sqrt(self.model / self.num_values)
        cosine = t_grid(float(self.num_cosines)) * math.sqrt(self.cosine / self.num_values)
        return np.maximum(model, cosine)


@dataclasses.dataclass(frozen=True)
class Memory:
    """Autocorrelation of a series as an AR(1) process seen through white noise.

    Attributes:
        strength: correlation of neighbours, extrapolated to lag 0, in [0, 1).
        phi: its decay per step, in [0, 0.99].
    """

    strength: float
    phi: float

    def correlations(self) -> np.ndarray:
        """Returns the correlations at lags 1, 2, … until they are below 1e-4; shape (num_lags,)."""
        if self.strength <= 1e-4 or self.phi <= 0:
            return np.zeros(0)
        num_lags = int(min(4000, 1 + math.log(1e-4 / self.strength) / math.log(self.phi))) + 1
        return self.strength * self.phi ** np.arange(1, num_lags + 1)


def memory_of(values: np.ndarray) -> Memory:
    """Fits an AR(1)-plus-white model to the autocorrelation of the values' normal scores.

    The scores make it blind to the marginal distribution: one stall of 10 s does not hide a memory. Subtracting the
    mean biases autocorrelations of a short series down; that is put right twice.

    Args:
        values: finite, in the order of time, shape (n,).
    """
    if values.size > _MAX_FITTED:
        start = (values.size - _MAX_FITTED) // 2
        values = values[start : start + _MAX_FITTED]
    scores = normal_scores(values)
    num_lags = min(_MAX_LAG, values.size // 4)
    if num_lags < 2:
        return Memory(0.0, 0.0)
    variance = float(scores @ scores)
    if variance <= 1e-12:
        return Memory(0.0, 0.0)
    # By FFT: as products of long vectors, every lag would start and stop the threads of the linear algebra library.
    size = 1 << (scores.size + num_lags - 1).bit_length()
    raw = np.fft.irfft(np.abs(np.fft.rfft(scores, size)) ** 2, size)[1 : num_lags + 1] / variance
    powers = _PHI[:, np.newaxis] ** np.arange(1, num_lags + 1)
    norms = np.maximum((powers**2).sum(axis=1), 1e-12)
    bias, memory = 0.0, Memory(0.0, 0.0)
    for _ in range(3):
        seen = raw * (1 - bias) + bias
        strengths = np.clip(powers @ seen / norms, 0.0, 0.999)
        errors = ((seen - strengths[:, np.newaxis] * powers) ** 2).sum(axis=1)
        best = int(np.argmin(errors))
        memory = Memory(float(strengths[best]), float(_PHI[best]))
        if float(powers[best] @ raw) * math.sqrt(values.size / norms[best]) < _MIN_Z:
            return Memory(0.0, 0.0)
        bias = min(0.3, (1 + 2 * float(memory.correlations().sum())) / values.size)
    return memory


def indicator_variance(values: np.ndarray, threshold: float, p: float, memory: Memory) -> LongRunVariance:
    """Returns the long-run variance of the indicator `values <= threshold`, whose mean is p.

    Under a Gaussian copula with correlation ρ the indicators' covariance is Φ₂(z, z; ρ) − p², with z the normal
    quantile of p. By Plackett's identity that is (1 / 2π) ∫₀^asin(ρ) exp(−z² / (1 + sin θ)) dθ.

    Args:
        values: in the order of time, shape (n,).
        threshold: a quantile of the values.
        p: its level in (0, 1).
        memory: of the values, see `memory_of`.
    """
    theta = np.linspace(0.0, math.pi / 2, 257)
    slope = np.exp(-(normal_quantile(p) ** 2) / (1 + np.sin(theta))) / (2 * math.pi)
    covariance = np.concatenate([[0.0], np.cumsum((slope[1:] + slope[:-1]) / 2 * np.diff(theta))])
    model = p * (1 - p) + 2 * float(np.interp(np.arcsin(memory.correlations()), theta, covariance).sum())
    # Few steps lie beyond a tail's quantile: a variance on six degrees of freedom would reach past them all.
    num_cosines = NUM_COSINES if 0.2 <= p <= 0.8 else TAIL_COSINES
    return _with_cosines(model, (values <= threshold).astype(np.float64), num_cosines)


def mean_variance(values: np.ndarray) -> LongRunVariance:
    """Returns the long-run variance of the values themselves, for an interval of their mean; shape (n,) in."""
    factor = 1 + 2 * float(memory_of(values).correlations().sum())
    # A stall that stands alone carries variance but no memory: only the bulk's variance is inflated.
    low, high = np.quantile(values, [0.01, 0.99])
    bulk = float(np.var(np.clip(values, low, high)))
    model = bulk * factor + max(float(np.var(values)) - bulk, 0.0)
    return _with_cosines(model, values, NUM_COSINES)


def paired_variance(residuals: np.ndarray) -> LongRunVariance:
    """As `mean_variance`, for what remains of one side after the other was taken out; shape (n,) in.

    A schedule's own alternation (slow, short, slow, short) may leave less than white noise. The model cannot see that
    neighbours cancel; the cosines can, and then stand alone.
    """
    centred = residuals - residuals.mean()
    neighbours = float(centred[1:] @ centred[:-1]) / max(float(centred @ centred), 1e-300)
    if residuals.size >= 8 * LONE_COSINES and neighbours < -0.1:
        return _with_cosines(0.0, residuals, LONE_COSINES)
    return mean_variance(residuals)


def cosine_variance(values: np.ndarray, num_cosines: int) -> float:
    """Returns the equal-weighted cosine estimate of the long-run variance; shape (n,) in, n >= 2.

    Only the slowest cosines matter, so long series are first averaged in groups.
    """
    group = -(-values.size // _MAX_GROUPS)
    num_groups = values.size // group
    means = values[: num_groups * group].reshape(num_groups, group).mean(axis=1)
    angles = np.pi * np.outer(np.arange(1, num_cosines + 1), np.arange(num_groups) + 0.5) / num_groups
    coefficients = math.sqrt(2 * group / num_groups) * (np.cos(angles) @ (means - means.mean()))
    return float(np.mean(coefficients**2))


def _with_cosines(model: float, values: np.ndarray, num_cosines: int) -> LongRunVariance:
    num_cosines = min(num_cosines, max(2, values.size // 8))
    return LongRunVariance(model, cosine_variance(values, num_cosines), num_cosines, values.size)
