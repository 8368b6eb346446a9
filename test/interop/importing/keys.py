"""Writes private keys in the files that the Python package cryptography has for them: keys.py FOLDER PASSPHRASE."""
import pathlib
import sys

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

folder = pathlib.Path(sys.argv[1])
locked = BestAvailableEncryption(sys.argv[2].encode())
keys = {
    "rsa": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ec": ec.generate_private_key(ec.SECP384R1()),
    "ed": ed25519.Ed25519PrivateKey.generate(),
}
for name, key in keys.items():
    (folder / f"{name}-python-pkcs8.der").write_bytes(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    (folder / f"{name}-python-openssh").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    (folder / f"{name}-python-locked.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    if name != "ed":
        (folder / f"{name}-python-former.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
