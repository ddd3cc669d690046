"""
Gives each request a call stack in one piece.

CPython keeps the frames of Python functions in chunks of 16 kB and gives a chunk back
to the system as soon as it is empty. A page whose loop calls across the end of a chunk
asks for it again on every call, which takes more than the page itself: see issue
142183 of CPython, mended in Python 3.13 and 3.14 only. Whether a page is hit depends on
how deep its templates lie.
"""

from django.http import HttpRequest, HttpResponse

from config.middleware import Answer

# In slots of eight bytes, which makes a chunk of 256 kB: half of it is for the frames
# below, and no page that the benchmark visits needs more. Nothing touches the slots.
STACK_SLOTS = 16_000


def call_stack_middleware(get_response: Answer) -> Answer:
    """
    Call the other middleware from a frame that takes a large chunk for itself.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    answer.__code__ = answer.__code__.replace(co_stacksize=STACK_SLOTS)
    return answer
