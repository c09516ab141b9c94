"""The end of a process."""

import subprocess
import sys

SECOND_CTRL_C = """
import os, signal
from lodestar_ros.executors import run
from lodestar_ros.parameters import ParameterError

def refuse():
    raise ParameterError("no such parameter")

status = run(refuse)
os.kill(os.getpid(), signal.SIGINT)
assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # it stays while the interpreter ends
raise SystemExit(status)
"""


def test_a_second_ctrl_c_does_not_kill_a_node_that_has_closed():
    ended = subprocess.run([sys.executable, "-c", SECOND_CTRL_C], capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr


BAD_PRIORS = """
from lodestar_ros.executors import run
from lodestar.assembly.parts import category_priors
raise SystemExit(run(lambda: category_priors("{path}")))
"""


def test_a_bad_file_of_counts_ends_a_node_with_a_sentence(tmp_path):
    path = tmp_path / "moves.json"
    path.write_text("{}")
    ended = subprocess.run(
        [sys.executable, "-c", BAD_PRIORS.format(path=path)], capture_output=True, text=True, check=False
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 2 and "not a file of counts" in said and "Traceback" not in said, said
