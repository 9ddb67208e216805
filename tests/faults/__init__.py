"""A campaign of faults: what can go wrong on disks, clocks and machines, tried on real ones.

`python -m tests.faults.campaign` runs all of it and writes the figures into
docs/reliability.md; `test_faults.py` is the short part that runs with the other tests.
"""
