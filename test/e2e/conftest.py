"""Where the tools under test are, and where test data is.

`pytest test/e2e` tests build/; `--build DIR` another build folder. Nothing here is skipped because a tool is missing: without
tools every test fails.
"""
import os
from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))

REPOSITORY = Path(__file__).resolve().parents[2]
MODELS = REPOSITORY / "test/data/models"
CASES = REPOSITORY / "test/data/cases"


def pytest_addoption(parser):
    parser.addoption("--build", default=str(REPOSITORY / "build"), help="build folder whose bin/ is tested")


@pytest.fixture(scope="session")
def build_folder(request) -> Path:
    return Path(request.config.getoption("--build")).resolve()


@pytest.fixture(scope="session")
def tools(build_folder) -> Path:
    return build_folder / "bin"


def pytest_configure(config):
    # A tool must not behave by the tester's language or terminal.
    os.environ["LC_ALL"] = "C.UTF-8"
