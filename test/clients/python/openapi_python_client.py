# The story (test/clients/story.ts) by openapi-python-client.
import json
import os
import ssl
from typing import TypeVar

from keystored_python_client import AuthenticatedClient
from keystored_python_client.api.approles import approles_merge, approles_show_config
from keystored_python_client.api.key_actions import (
    transit_keys_decrypt,
    transit_keys_decrypt_batch,
    transit_keys_encrypt,
    transit_keys_encrypt_batch,
    transit_keys_sign,
    transit_keys_verify,
)
from keystored_python_client.api.transit_keys import (
    transit_keys_create,
    transit_keys_list_config,
    transit_keys_merge,
    transit_keys_show_config,
)
from keystored_python_client.models import (
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
from keystored_python_client.types import UNSET

client = AuthenticatedClient(
    base_url=os.environ["KEYSTORED_URL"],
    token=os.environ["KEYSTORED_TOKEN"],
    verify_ssl=ssl.create_default_context(cafile=os.environ["KEYSTORED_CA"]),
    raise_on_unexpected_status=True,
)

T = TypeVar("T")


def taken(answer: T | Problem | None) -> T:
    """The client answers errors instead of raising them."""
    if answer is None or isinstance(answer, Problem):
        raise RuntimeError(answer)
    return answer


taken(transit_keys_create.sync(client=client, body=TransitKeyCreation(name="made")))
sealed = taken(transit_keys_encrypt.sync("made", client=client, body=EncryptRequest(plaintext="c2VjcmV0")))
opened = taken(transit_keys_decrypt.sync("made", client=client, body=DecryptRequest(ciphertext=sealed.ciphertext)))

items = [
    EncryptBatchItem(plaintext="Zmlyc3Q=", reference="a"),
    EncryptBatchItem(plaintext="c2Vjb25k", reference="b"),
    EncryptBatchItem(plaintext="dGhpcmQ=", reference="c", key_version=99),
]
sealed_batch = taken(transit_keys_encrypt_batch.sync("made", client=client, body=EncryptBatchRequest(batch_input=items)))
ciphertexts = [DecryptBatchItem(ciphertext=item.ciphertext) for item in sealed_batch.batch_results if isinstance(item.ciphertext, str)]
opened_batch = taken(transit_keys_decrypt_batch.sync("made", client=client, body=DecryptBatchRequest(batch_input=ciphertexts)))
plaintexts = [item.plaintext for item in opened_batch.batch_results]
batch = [f"{item.reference}:{item.code or plaintexts[index]}" for index, item in enumerate(sealed_batch.batch_results)]

signature = taken(transit_keys_sign.sync("signing", client=client, body=SignRequest(text="c2lnbmVk"))).signature
verified = [
    taken(transit_keys_verify.sync("signing", client=client, body=VerifyRequest(text=text, signature=signature))).valid
    for text in ("c2lnbmVk", "b3RoZXI=")
]

names: list[str] = []
pages, total, more = 0, 0, True
while more:
    page = transit_keys_list_config.sync_detailed(client=client, limit=2, after=names[-1] if names else UNSET)
    names += [str(key.name) for key in taken(page.parsed)]
    total, more = int(page.headers["total-count"]), 'rel="next"' in page.headers.get("link", "")
    pages += 1

assert transit_keys_merge.sync_detailed("merged", client=client, body=TransitKeyMerge(deletion_allowed=True)).status_code == 204
assert approles_merge.sync_detailed("merged", client=client, body=ApproleMerge(token_ttl="4h")).status_code == 204
key = taken(transit_keys_show_config.sync("merged", client=client))
approle = taken(approles_show_config.sync("merged", client=client))

problem = transit_keys_show_config.sync("absent", client=client)
assert isinstance(problem, Problem)

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
            "problem": {"status": problem.status, "code": problem.code},
        }
    )
)
