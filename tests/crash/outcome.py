# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the crash tests share."""


class Skip(Exception):
    """The machine does not allow the test; the reason is said aloud."""
