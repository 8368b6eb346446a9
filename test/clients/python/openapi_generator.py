# The story (test/clients/story.ts) by openapi-generator's Python client.
import json
import os

from keystored_generator import ApiClient, Configuration
from keystored_generator.api import ApprolesApi, KeyActionsApi, TransitKeysApi
from keystored_generator.exceptions import ApiException
from keystored_generator.models import (
    ApproleMerge,
    DecryptBatchItem,
    DecryptBatchRequest,
    DecryptRequest,
    EncryptBatchItem,
    EncryptBatchRequest,
    EncryptRequest,
    Problem,
    SignRequest,
    TransitKeyCreation,
    TransitKeyMerge,
    VerifyRequest,
)

configuration = Configuration(
    host=os.environ["KEYSTORED_URL"], access_token=os.environ["KEYSTORED_TOKEN"], ssl_ca_cert=os.environ["KEYSTORED_CA"]
)
client = ApiClient(configuration)
keys, actions, approles = TransitKeysApi(client), KeyActionsApi(client), ApprolesApi(client)

keys.transit_keys_create(TransitKeyCreation(name="made"))
sealed = actions.transit_keys_encrypt("made", EncryptRequest(plaintext="c2VjcmV0"))
opened = actions.transit_keys_decrypt("made", DecryptRequest(ciphertext=sealed.ciphertext))

items = [
    EncryptBatchItem(plaintext="Zmlyc3Q=", reference="a"),
    EncryptBatchItem(plaintext="c2Vjb25k", reference="b"),
    EncryptBatchItem(plaintext="dGhpcmQ=", reference="c", key_version=99),
]
sealed_batch = actions.transit_keys_encrypt_batch("made", EncryptBatchRequest(batch_input=items))
ciphertexts = [DecryptBatchItem(ciphertext=item.ciphertext) for item in sealed_batch.batch_results if item.ciphertext is not None]
opened_batch = actions.transit_keys_decrypt_batch("made", DecryptBatchRequest(batch_input=ciphertexts))
plaintexts = [item.plaintext for item in opened_batch.batch_results]
batch = [f"{item.reference}:{item.code or plaintexts[index]}" for index, item in enumerate(sealed_batch.batch_results)]

signature = actions.transit_keys_sign("signing", SignRequest(text="c2lnbmVk")).signature
verified = [
    actions.transit_keys_verify("signing", VerifyRequest(text=text, signature=signature)).valid for text in ("c2lnbmVk", "b3RoZXI=")
]

names: list[str] = []
pages, total, more = 0, 0, True
while more:
    page = keys.transit_keys_list_config_with_http_info(limit=2, after=names[-1] if names else None)
    names += [str(key.name) for key in page.data]
    headers = {name.lower(): value for name, value in (page.headers or {}).items()}
    total, more = int(headers["total-count"]), 'rel="next"' in headers.get("link", "")
    pages += 1

keys.transit_keys_merge("merged", transit_key_merge=TransitKeyMerge(deletion_allowed=True))
approles.approles_merge("merged", approle_merge=ApproleMerge(token_ttl="4h"))
key, approle = keys.transit_keys_show_config("merged"), approles.approles_show_config("merged")

problem: dict[str, object] = {}
try:
    keys.transit_keys_show_config("absent")
except ApiException as error:
    assert isinstance(error.data, Problem)
    problem = {"status": error.data.status, "code": error.data.code}

print(
    json.dumps(
        {
            "decrypted": opened.plaintext,
            "batch": batch,
            "failed": sealed_batch.failed,
            "verified": verified,
            "names": names,
            "pages": pages,
            "total": total,
            "merged": {
                "exportable": key.exportable,
                "rotateAfter": key.auto_rotate.rotate_after if key.auto_rotate else None,
                "minDecryptionVersion": key.min_decryption_version,
                "uses": approle.secret_id_num_uses,
            },
            "problem": problem,
        }
    )
)
