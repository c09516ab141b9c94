"""Put this folder on the path, so that tests import shared helpers under any import mode."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules, such as embedders
