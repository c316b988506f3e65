"""Turns of one context one after the other, in the order in which they came."""

import asyncio
from collections import deque
from collections.abc import Hashable


class Place:
    """A turn's place in its context; `reached` is done when every turn before it is over."""

    __slots__ = ("key", "reached")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class ArrivalOrder:
    """A place is taken at once and without waiting, so the order is that of the calls."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Place]] = {}

    def take(self, key: Hashable) -> Place:
        place = Place(key)
        places = self._waiting.setdefault(key, deque())
        places.append(place)
        self._call(places[0])
        return place

    def leave(self, place: Place) -> None:
        """Frees the place, whether its turn was reached or not; a second time does nothing."""
        places = self._waiting.get(place.key)
        if places is None or place not in places:
            return
        places.remove(place)
        if places:
            self._call(places[0])
        else:
            del self._waiting[place.key]

    def _call(self, first: Place) -> None:
        if not first.reached.done():
            first.reached.set_result(None)
