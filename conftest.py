"""What every test counts on, however the suite was started."""

import signal


def pytest_configure() -> None:
    """A script's background job ignores SIGINT, and so would every process under test: they are to be interrupted."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
