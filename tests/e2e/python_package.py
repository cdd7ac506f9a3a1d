# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where tests find the package queryd."""
import glob
import os

import pytest

from harness import BUILD


def python_environment(env):
    """For programs that import the package from the build folder; skips the test when it was not built."""
    folder = os.path.join(BUILD, "client-lib/python")
    if not glob.glob(os.path.join(folder, "queryd/_client*.so")):
        pytest.skip("the package queryd was not built: python3-dev is missing")
    return dict(env, PYTHONPATH=folder)
