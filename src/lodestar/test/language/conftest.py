import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for helper modules, such as reasoning
sys.path.insert(0, str(Path(__file__).parents[1] / "models"))  # for chat_server
