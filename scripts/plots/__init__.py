"""The parts of scripts/plot.py."""
