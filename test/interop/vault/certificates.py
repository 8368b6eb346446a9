# Certificates by hvac.
import json
import os
import subprocess

import hvac

client = hvac.Client(url=os.environ["VAULT_ADDR"], verify=os.environ["VAULT_CACERT"])
client.auth.approle.login(os.environ["ROLE_ID"], os.environ["SECRET_ID"])
pki = client.secrets.pki
report = {}

issued = pki.generate_certificate("web", "a.example.test", extra_params={"ttl": "1h"})["data"]
report["issued"] = [issued["private_key_type"], len(issued["ca_chain"])]

key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null"]
request = ["openssl", "req", "-new", *key, "-subj", "/CN=b.example.test", "-addext", "subjectAltName=DNS:b.example.test"]
csr = subprocess.run(request, check=True, capture_output=True, text=True).stdout
signed = pki.sign_certificate("web", csr, "b.example.test")["data"]
report["signed"] = signed["certificate"].startswith("-----BEGIN CERTIFICATE-----")
report["authority"] = pki.read_ca_certificate() == signed["issuing_ca"]
report["chain"] = pki.read_ca_certificate_chain().count("BEGIN CERTIFICATE")
report["list"] = pki.read_crl().startswith("-----BEGIN X509 CRL-----")
report["listed"] = signed["serial_number"] in pki.list_certificates()["data"]["keys"]
report["read"] = pki.read_certificate(signed["serial_number"])["data"]["certificate"] == signed["certificate"]
report["revoked"] = pki.revoke_certificate(signed["serial_number"])["data"]["state"]
try:
    pki.sign_certificate("absent", csr, "b.example.test")
except hvac.exceptions.Forbidden:
    report["absent"] = "forbidden"
print(json.dumps(report))
