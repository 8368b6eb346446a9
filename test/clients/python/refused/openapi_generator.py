# mypy must refuse it: a misspelt field with a value of another type.
from keystored_generator.models import EncryptRequest

EncryptRequest(plaintxt=5)
