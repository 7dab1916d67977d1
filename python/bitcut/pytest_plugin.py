# SPDX-License-Identifier: BSD-3-Clause
"""Plugin for pytest: assert_gemm and assert_gemm_close as fixtures; the header names their
library.  ``pytest -p bitcut.pytest_plugin``; an installed package needs no option."""

import pytest


def pytest_report_header(config):
    try:
        import bitcut
    except ImportError as error:
        return f"bitcut: {error}"
    return f"bitcut: {bitcut.__version__}, {bitcut.library}"


@pytest.fixture(scope="session")
def assert_gemm():
    """bitcut.testing.assert_gemm: D has every bit of a recipe on a unit."""
    from bitcut.testing import assert_gemm
    return assert_gemm


@pytest.fixture(scope="session")
def assert_gemm_close():
    """bitcut.testing.assert_gemm_close: the errors of D are within the limits of a recipe on a
    unit."""
    from bitcut.testing import assert_gemm_close
    return assert_gemm_close


@pytest.fixture(scope="session")
def assert_attention_close():
    """bitcut.testing.assert_attention_close: the errors of O are within the limits of an algorithm of
    attention."""
    from bitcut.testing import assert_attention_close
    return assert_attention_close
