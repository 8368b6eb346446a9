"""Encapsulates with the OpenSSL of the Python package cryptography: encapsulate.py FOLDER. A line for each key: name, "secret", secret, ciphertext."""
import base64
import pathlib
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key

for name in ("ml-kem-768", "ml-kem-1024"):
    key = load_pem_public_key((pathlib.Path(sys.argv[1]) / f"{name}.pem").read_bytes())
    secret, ciphertext = key.encapsulate()
    print(name, "secret", *(base64.b64encode(octets).decode() for octets in (secret, ciphertext)))
