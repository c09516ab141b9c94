"""Control of motion: records of holds and pauses, the gate before the base, and followers of the records."""
