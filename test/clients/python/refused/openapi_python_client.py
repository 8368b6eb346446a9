# mypy must refuse it: a misspelt field with a value of another type.
from keystored_python_client.models import EncryptRequest

EncryptRequest(plaintxt=5)
