"""The gallery, read once by both loaders."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

import pytest

from tests.store import gallery
from tests.store.tables import Opened, listing, open_store
from tests.support.providers import LOADERS


@pytest.fixture(scope="package")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Opened]]:
    """Stores over the gallery by loader; both loaders have read all of it."""
    logdir = tmp_path_factory.mktemp("gallery")
    gallery.build(logdir)
    with contextlib.ExitStack() as stack:
        opened = {loader: stack.enter_context(open_store(loader, logdir)) for loader in LOADERS}
        opened["rust"].until(lambda: listing(opened["rust"].loaded) == listing(opened["python"].loaded))
        yield opened


@pytest.fixture(params=LOADERS)
def loader(request: pytest.FixtureRequest) -> str:
    """Name of a loader."""
    return str(request.param)


@pytest.fixture
def opened(stores: dict[str, Opened], loader: str) -> Opened:
    """A store over the gallery, with either loader."""
    return stores[loader]


@pytest.fixture
def logdir(tmp_path: pathlib.Path) -> pathlib.Path:
    """An empty log directory."""
    directory = tmp_path / "logs"
    directory.mkdir()
    return directory
