"""Put this folder on the path, so that tests import its builders under any import mode."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
