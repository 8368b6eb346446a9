# The story (test/interop/vault-clients.test.ts) by hvac.
import base64
import json
import os

import hvac

name = os.environ["KEY"]


def octets(text):
    return base64.b64encode(text.encode()).decode()


def text_of(encoded):
    return base64.b64decode(encoded).decode()


def refusal(action):
    try:
        action()
    except hvac.exceptions.VaultError as error:
        return f"{type(error).__name__}: {error.errors[0] if error.errors else ''}"
    return "none"


client = hvac.Client(url=os.environ["VAULT_ADDR"], verify=os.environ["VAULT_CACERT"])
report = {}

health = client.sys.read_health_status(method="GET")
seal = client.sys.read_seal_status()
is_up = client.sys.read_health_status().status_code == 200
report["service"] = {"initialized": health["initialized"], "sealed": [health["sealed"], seal["sealed"], not is_up]}

wrong = refusal(lambda: client.auth.approle.login(os.environ["ROLE_ID"], "wrong", use_token=False))
login = client.auth.approle.login(os.environ["ROLE_ID"], os.environ["SECRET_ID"])
me = client.auth.token.lookup_self()["data"]
report["login"] = {
    "wrong": wrong,
    "authenticated": client.is_authenticated(),
    "same": me["accessor"] == login["auth"]["accessor"] and me["id"] == client.token,
    "who": me["display_name"],
    "renewable": me["renewable"] and login["auth"]["renewable"],
    "ttl": me["ttl"],
}

report["accessor"] = client.auth.token.lookup_accessor(me["accessor"])["data"]["display_name"]
report["mounts"] = [client.sys.list_mounted_secrets_engines()["data"]["transit/"]["type"], client.sys.list_auth_methods()["data"]["approle/"]["type"]]
transit = client.secrets.transit
transit.create_key(name)
paths = [f"transit/encrypt/{name}", f"transit/export/{name}"]
report["capabilities"] = [client.sys.get_capabilities(paths)["data"][path] for path in paths]
report["absent"] = refusal(lambda: transit.read_key("absent"))
transit.create_key(f"{name}-ecdsa", key_type="ecdsa-p256")
transit.create_key(f"{name}-ed25519", key_type="ed25519")
first = transit.encrypt_data(name, octets("first"))["data"]["ciphertext"]
transit.encrypt_data(f"{name}-upserted", octets("made"))
report["keys"] = [key for key in transit.list_keys()["data"]["keys"] if key.startswith(name)]

report["opened"] = [text_of(transit.decrypt_data(name, first)["data"]["plaintext"])]
transit.rotate_key(name)
rewrapped = transit.rewrap_data(name, first)["data"]["ciphertext"]
report["opened"].append(text_of(transit.decrypt_data(name, rewrapped)["data"]["plaintext"]))
report["prefixes"] = [value[:9] for value in [first, rewrapped]]
undeletable = refusal(lambda: transit.delete_key(name))
transit.update_key_configuration(name, min_decryption_version=2, deletion_allowed=True)
read = transit.read_key(name)["data"]
report["read"] = {field: read[field] for field in ["type", "latest_version", "min_decryption_version", "deletion_allowed"]}
report["tooOld"] = refusal(lambda: transit.decrypt_data(name, first))
trimmed = transit.trim_key(name, 2)["data"]
report["trimmed"] = [trimmed["min_available_version"], list(trimmed["keys"])]

dataKey = transit.generate_data_key(name, "plaintext", bits=128)["data"]
report["dataKey"] = transit.decrypt_data(name, dataKey["ciphertext"])["data"]["plaintext"] == dataKey["plaintext"]
report["wrappedAlone"] = "plaintext" not in transit.generate_data_key(name, "wrapped")["data"]
report["verified"] = []
for kind in ["ecdsa", "ed25519"]:
    signature = transit.sign_data(f"{name}-{kind}", octets("signed"))["data"]["signature"]
    for text in ["signed", "other"]:
        verified = transit.verify_signed_data(f"{name}-{kind}", octets(text), signature=signature)
        report["verified"].append(verified["data"]["valid"])
mac = transit.generate_hmac(name, octets("signed"), algorithm="sha2-512")["data"]["hmac"]
for text in ["signed", "other"]:
    verified = transit.verify_signed_data(name, octets(text), hmac=mac, hash_algorithm="sha2-512")
    report["verified"].append(verified["data"]["valid"])
report["random"] = len(transit.generate_random_bytes(24, output_format="hex")["data"]["random_bytes"])

batch = transit.encrypt_data(name, batch_input=[{"plaintext": octets(text), "reference": text} for text in ["a", "b"]])["data"]["batch_results"]
opened = transit.decrypt_data(name, batch_input=[{"ciphertext": item["ciphertext"]} for item in batch])["data"]["batch_results"]
report["batch"] = [f"{item['reference']}:{text_of(plain['plaintext'])}" for item, plain in zip(batch, opened)]

transit.delete_key(name)
report["deleted"] = [undeletable, refusal(lambda: transit.read_key(name))]

renewed = client.auth.token.renew_self(increment=1800)["auth"]
report["renewed"] = [renewed["client_token"] == client.token, renewed["lease_duration"]]
client.auth.token.revoke_self()
report["revoked"] = refusal(client.auth.token.lookup_self)
print(json.dumps(report))
