"""The servers of tests, also for those that stand in the folder of a job."""

pytest_plugins = ["tests.support.servers"]
