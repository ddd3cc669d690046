"""
The book as it is written down with the matches that were made from it, and read back.

Everything is text: a number read back is the number that was written, to the digit.
"""

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from marketplace.matching import Ask, Bid

Row = dict[str, Any]


def write_bids(bids: Iterable[Bid]) -> list[Row]:
    return [
        _written(bid)
        | {
            "regions": sorted(bid.regions),
            "rates": {code: str(rate) for code, rate in sorted(bid.rates.items())},
            "avoids": sorted(bid.avoids),
        }
        for bid in bids
    ]


def write_asks(asks: Iterable[Ask]) -> list[Row]:
    return [_written(ask) for ask in asks]


def read_bids(rows: Iterable[Row]) -> list[Bid]:
    return [
        Bid(
            **row
            | {
                "regions": frozenset(row["regions"]),
                "limit": Decimal(row["limit"]),
                "rank": Decimal(row["rank"]),
                "rates": {code: Decimal(rate) for code, rate in row["rates"].items()},
                "funded_at": datetime.fromisoformat(row["funded_at"]),
                "avoids": frozenset(row["avoids"]),
            }
        )
        for row in rows
    ]


def read_asks(rows: Iterable[Row]) -> list[Ask]:
    return [
        Ask(
            **row
            | {
                "price": Decimal(row["price"]),
                "listed_at": datetime.fromisoformat(row["listed_at"]),
                "available_until": _moment(row["available_until"]),
            }
        )
        for row in rows
    ]


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _written(record: Bid | Ask) -> Row:
    return {name: _text(getattr(record, name)) for name in _names(record)}


def _names(record: Bid | Ask) -> list[str]:
    return [field.name for field in fields(record)]


def _text(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value
