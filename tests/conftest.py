"""Property tests explore freely on a desk and repeat themselves in CI, so that a red gate can be made red again."""

import os

from hypothesis import settings
from postgres import postgres  # noqa: F401

settings.register_profile("ci", derandomize=True, print_blob=True, max_examples=50)
if os.environ.get("CI"):
    settings.load_profile("ci")
