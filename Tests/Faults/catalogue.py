"""All faults, in the order of the table."""

import outputs  # noqa: F401 - each module adds its own faults
import ends  # noqa: F401
import machines  # noqa: F401
import clients  # noqa: F401
import strangers  # noqa: F401
from stage import FAULTS  # noqa: F401
