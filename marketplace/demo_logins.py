"""
How to log in to the demo; without Django, so that the launcher can print it.
"""

RENTER = "renter@corehour.example"
STAFF = "staff@corehour.example"
SUPPLIER = "supplier@corehour.example"
PASSWORD = "corehour-demo-2026"  # noqa: S105 - printed at every start of the demo
