"""
The tables of the catalog in the admin.
"""

from catalog.admin import offers, tables

__all__ = ["offers", "tables"]
