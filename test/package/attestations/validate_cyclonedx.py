"""Validates a bill of materials against the strict schema of CycloneDX 1.6; ends with 1 and says why it is not valid."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
if error is not None:
    sys.exit(str(error))
