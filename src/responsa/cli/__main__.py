"""`python -m responsa.cli`."""

import sys

from . import main

sys.exit(main())
