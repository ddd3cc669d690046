"""
What `make run` runs: the whole site on one machine, for a look and for development.

Production runs the same web server, worker and beat under its own supervisor.
"""
