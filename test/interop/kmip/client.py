# Makes, finds, reads, changes and destroys objects with the client of PyKMIP; prints what it saw as a line of JSON.
import json
import os

from kmip.core import enums
from kmip.core.factories.attributes import AttributeFactory
from kmip.pie.client import ProxyKmipClient
from kmip.pie.exceptions import KmipOperationFailure
from kmip.pie.objects import SecretData, SymmetricKey

masks = [enums.CryptographicUsageMask.ENCRYPT, enums.CryptographicUsageMask.DECRYPT]
name = "database key"


def refusal(act):
    try:
        act()
    except KmipOperationFailure as error:
        return error.reason.name
    return "none"


def named():
    return AttributeFactory().create_attribute(enums.AttributeType.NAME, name_of(name))


def name_of(text):
    from kmip.core.attributes import Name

    return Name.create(text, enums.NameType.UNINTERPRETED_TEXT_STRING)


with ProxyKmipClient(config="client", kmip_version=enums.KMIPVersion[os.environ["KMIP_VERSION"]]) as client:
    key = client.create(enums.CryptographicAlgorithm.AES, 256, name=name, cryptographic_usage_mask=masks)
    found = client.locate(attributes=[named()])
    client.activate(key)
    material = client.get(key)
    _, attributes = client.get_attributes(key, ["State"])
    own = bytes(range(32))
    registered = client.register(SymmetricKey(enums.CryptographicAlgorithm.AES, 256, own, masks=masks, name="own key"))
    secret = client.register(SecretData(b"password", enums.SecretDataType.PASSWORD))
    seen = {
        "found": found == [key],
        "length": len(material.value),
        "state": attributes[0].attribute_value.value.name,
        "registered": client.get(registered).value == own,
        "secret": client.get(secret).value == b"password",
        "names": {"Name", "State", "Cryptographic Algorithm"} <= set(client.get_attribute_list(key)),
        "refused": refusal(lambda: client.destroy(key)),
    }
    client.revoke(enums.RevocationReasonCode.CESSATION_OF_OPERATION, key)
    for one in (key, registered, secret):
        client.destroy(one)
    seen["left"] = client.locate(attributes=[named()])
    seen["gone"] = refusal(lambda: client.get("00000000-0000-4000-8000-000000000000"))
    print(json.dumps(seen))
