"""Verifies a DSSE envelope with a public key in PEM, and prints what the in-toto statement in it says."""

import json
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf.json_format import Parse
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

key_file, envelope_file = sys.argv[1:]
with open(envelope_file, encoding="utf-8") as file:
    document = json.loads(file.readline())
with open(key_file, "rb") as file:
    public_key = load_pem_public_key(file.read())

key = SSlibKey.from_crypto(public_key, keyid=document["signatures"][0]["keyid"])
envelope = Envelope.from_dict(document)
envelope.verify([key], 1)
if envelope.payload_type != "application/vnd.in-toto+json":
    sys.exit(f"the envelope holds {envelope.payload_type}")

message = Parse(envelope.payload, statement_pb2.Statement())
Statement.copy_from_pb(message).validate()
print(
    json.dumps(
        {
            "subjects": sorted(subject.name for subject in message.subject),
            "predicateType": message.predicate_type,
            "builder": message.predicate["runDetails"]["builder"]["id"],
        }
    )
)
