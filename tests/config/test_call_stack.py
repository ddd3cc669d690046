import resource

from config.call_stack import call_stack_middleware

DEPTHS = 300
CALLS = 300


def page_faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def leaf(depth=5):
    return [leaf(depth - 1)] if depth else []


def loop_at_depth(depth):
    """
    Return how many pages of memory a loop of calls asks the system for, so deep.
    """
    if depth:
        return loop_at_depth(depth - 1)
    before = page_faults()
    for _ in range(CALLS):
        leaf()
    return page_faults() - before


def test_no_loop_asks_for_memory_again_and_again():
    answer = call_stack_middleware(loop_at_depth)
    answer(DEPTHS)

    # Without the frame's own chunk, one call in a hundred depths asks for it each time.
    assert max(answer(depth) for depth in range(DEPTHS)) < CALLS / 10


def test_the_answer_is_passed_on():
    assert call_stack_middleware(lambda request: request * 2)("a") == "aa"
