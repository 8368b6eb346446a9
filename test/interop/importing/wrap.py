"""Wraps for an import by the Python package cryptography: wrap.py WRAPPING-KEY MATERIAL > wrapped.bin."""
import os
import pathlib
import sys

from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.keywrap import aes_key_wrap_with_padding
from cryptography.hazmat.primitives.serialization import load_pem_public_key

wrapping_key, material = (pathlib.Path(name).read_bytes() for name in sys.argv[1:])
transport = os.urandom(32)
oaep = OAEP(mgf=MGF1(algorithm=SHA256()), algorithm=SHA256(), label=None)
wrapped = load_pem_public_key(wrapping_key).encrypt(transport, oaep)
sys.stdout.buffer.write(wrapped + aes_key_wrap_with_padding(transport, material))
