# SPDX-License-Identifier: BSD-3-Clause
"""Plugin for pytest: assert_gemm and assert_gemm_close as fixtures, and of which library they
are in the header.  ``pytest -p bitcut.pytest_plugin``; an installed package needs no option."""

import pytest


def pytest_report_header(config):
    try:
        import bitcut
    except ImportError as error:
        return f"bitcut: {error}"
    return f"bitcut: {bitcut.__version__}, {bitcut.library}"


@pytest.fixture(scope="session")
def assert_gemm():
    """bitcut.testing.assert_gemm: D is that of a recipe on a unit, to the bit."""
    from bitcut.testing import assert_gemm
    return assert_gemm


@pytest.fixture(scope="session")
def assert_gemm_close():
    """bitcut.testing.assert_gemm_close: D errs no more than a recipe on a unit may."""
    from bitcut.testing import assert_gemm_close
    return assert_gemm_close
