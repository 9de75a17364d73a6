"""Distribution metadata. Tool settings stand in pyproject.toml, pinned versions in constraints.txt."""

import pathlib
import re

from setuptools import find_packages, setup

ROOT = pathlib.Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "tb_stepperf" / "_version.py").read_text()).group(1)

setup(
    name="tb-stepperf",
    version=VERSION,
    description="Step performance for PyTorch training, in TensorBoard",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    packages=find_packages(include=["tb_stepperf", "tb_stepperf.*"]),
    package_data={"tb_stepperf.plugin": ["static/*"], "tb_stepperf": ["py.typed"]},
    python_requires=">=3.10",
    install_requires=[
        "google-crc32c>=1.5",
        "msgspec>=0.19",
        "numpy>=1.24",
        "protobuf>=4.25",
        "tensorboard>=2.16",
        "werkzeug>=2.2",
    ],
    extras_require={"torch": ["torch>=2.4"], "cli": ["click>=8.1", "rich>=13"]},
    entry_points={
        "tensorboard_plugins": ["stepperf = tb_stepperf.plugin.loader:StepPerfLoader"],
        "console_scripts": ["stepperf = tb_stepperf.cli.main:main"],
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
