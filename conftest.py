"""What every test counts on, however the suite was started."""

import signal

from hypothesis import settings

#: Many examples of every property test: `python -m pytest FILE --hypothesis-profile=long`.
settings.register_profile("long", max_examples=20_000, deadline=None)


def pytest_configure() -> None:
    """A script's background job ignores SIGINT, and so would every process under test: they are to be interrupted."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
