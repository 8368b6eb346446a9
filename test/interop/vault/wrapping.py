# Wrapped answers by hvac: a secret-id that only its receiver sees, and what the receiver of an opened one is told.
import json
import os

import hvac

name = os.environ["KEY"]
server = {"url": os.environ["VAULT_ADDR"], "verify": os.environ["VAULT_CACERT"]}
maker = hvac.Client(**server)
maker.auth.approle.login(os.environ["ROLE_ID"], os.environ["SECRET_ID"])
made = maker.auth.approle.generate_secret_id(name, wrap_ttl="5m")
info = made["wrap_info"]
maker.logout(revoke_token=True)

receiver = hvac.Client(**server)
secret = receiver.sys.unwrap(info["token"])["data"]
login = receiver.auth.approle.login(os.environ["ROLE_ID"], secret["secret_id"])
report = {
    "unseen": made["data"] is None and "secret_id" not in json.dumps(made),
    "same": secret["secret_id_accessor"] == info["wrapped_accessor"],
    "path": info["creation_path"],
    "login": login["auth"]["metadata"]["role_name"],
}
try:
    receiver.sys.unwrap(info["token"])
except hvac.exceptions.VaultError as error:
    report["again"] = f"{type(error).__name__}: {error.errors[0]}"
wrapped = receiver.sys.wrap({"a": 1}, ttl=60)["wrap_info"]["token"]
report["any"] = hvac.Client(**server, token=wrapped).sys.unwrap()["data"]
print(json.dumps(report))
