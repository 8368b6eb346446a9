"""A key wrapped for its import: RSA-OAEP of a fresh AES key, then that key's wrap of the material (RFC 5649), as CKM_RSA_AES_KEY_WRAP has it.

Both come from the package `cryptography`: `pip install 'keystored-client[sealing]'`.
"""

from __future__ import annotations

import secrets


def wrap_key(wrapping_key: str, material: bytes) -> bytes:
    """Wraps octets under an RSA key (SubjectPublicKeyInfo, PEM): OAEP and MGF1 with SHA-256, AES of 256 bits."""
    try:
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import padding, rsa
        from cryptography.hazmat.primitives.keywrap import aes_key_wrap_with_padding
    except ImportError as error:
        raise ImportError("wrapped imports need the package cryptography: pip install 'keystored-client[sealing]'") from error
    key = serialization.load_pem_public_key(wrapping_key.encode("ascii"))
    if not isinstance(key, rsa.RSAPublicKey):
        raise ValueError("the wrapping key of the appliance is not an RSA key")
    transport_key = secrets.token_bytes(32)
    oaep = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)
    return key.encrypt(transport_key, oaep) + aes_key_wrap_with_padding(transport_key, material)
