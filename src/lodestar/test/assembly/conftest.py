import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules, such as chain_robot
