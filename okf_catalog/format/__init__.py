"""What the OKF specification says, as pure functions.

Nothing in this package touches the disk, SQL or the clock. Bad input is never an
exception: functions return a result and the problems found beside it.
"""
