import pytest

# What they assert is shown like the assertions of a test.
pytest.register_assert_rewrite("tests.simulator.comparing", "tests.simulator.renters")
