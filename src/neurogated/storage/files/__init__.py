"""Files beside a memory: arrays and locks between processes."""
