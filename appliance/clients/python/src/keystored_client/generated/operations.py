"""A class for each group of operations, a method for each operation. Made by `npm run clients`; do not edit."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional

from .._sender import Request, Sender, segment
from .._wire import to_wire
from . import models


class ActivityOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.ActivityAnswer:
        """What the appliance did in the last hour.

        Points of half a minute over all worker processes, kept while the daemon runs. For more than an hour,
        or several appliances, Prometheus reads the metrics.

        ``GET /v1/state/system/activity``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/activity",
                is_idempotent=True,
            ),
            models.ActivityAnswer, timeout,
        )


class ApproleOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def login(self, body: models.ApproleLoginRequest, *, timeout: Optional[float] = None) -> models.ApproleLoginAnswer:
        """Log in as an approle.

        Whatever is wrong with the credentials, the refusal is the same. After 10 failures in a minute for one
        role-id, or 60 from one address, further wrong ones are answered 429 until the minute is over; right
        ones log in, one secret-id 600 times a minute.

        ``POST /v1/approle-login``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/approle-login",
                body=to_wire(body),
                is_idempotent=False,
                is_public=True,
            ),
            models.ApproleLoginAnswer, timeout,
        )


class ApprolesOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, body: models.ApproleCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.Approle:
        """Create an approle.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/keystore/authentication/approles``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/keystore/authentication/approles",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.Approle, timeout,
        )

    def delete(self, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete an approle.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/keystore/authentication/approles/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/keystore/authentication/approles/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def disable_secret_id(self, name: str, body: Optional[models.DisableSecretIdRequest] = None, *, timeout: Optional[float] = None) -> None:
        """End a secret-id at once.

        Named by `secret-id` or by `accessor`. Tokens that it was exchanged for go on working until they end.

        ``POST /v1/state/keystore/authentication/approles/{name}/disable-secret-id``
        """
        return self._sender.nothing(
            Request(
                "POST",
                f"/v1/state/keystore/authentication/approles/{segment(name)}/disable-secret-id",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            timeout,
        )

    def generate_secret_id(self, name: str, body: Optional[models.GenerateSecretIdRequest] = None, *, timeout: Optional[float] = None) -> models.GenerateSecretIdAnswer:
        """Make a secret-id.

        The secret-id is shown this once and kept as a hash. Together with the role-id it logs in
        (`/v1/approle-login`).

        ``POST /v1/state/keystore/authentication/approles/{name}/generate-secret-id``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/authentication/approles/{segment(name)}/generate-secret-id",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.GenerateSecretIdAnswer, timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.ApproleState]:
        """List the state of every approle.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/authentication/approles``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/keystore/authentication/approles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.ApproleState], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.ApproleState]:
        """List the state of every approle. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/authentication/approles``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/keystore/authentication/approles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.ApproleState, timeout,
        )

    def list_config(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.Approle]:
        """List every approle.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/authentication/approles``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/config/keystore/authentication/approles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.Approle], timeout,
        )

    def list_config_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.Approle]:
        """List every approle. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/authentication/approles``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/config/keystore/authentication/approles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.Approle, timeout,
        )

    def merge(self, name: str, body: models.ApproleMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Merge into an approle.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/keystore/authentication/approles/{name}``
        """
        return self._sender.nothing(
            Request(
                "PATCH",
                f"/v1/config/keystore/authentication/approles/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def replace(self, name: str, body: models.ApproleReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.Approle]:
        """Create or replace an approle.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/keystore/authentication/approles/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/keystore/authentication/approles/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.Approle, timeout,
        )

    def show(self, name: str, *, timeout: Optional[float] = None) -> models.ApproleState:
        """Read the state of an approle.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/keystore/authentication/approles/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/approles/{segment(name)}",
                is_idempotent=True,
            ),
            models.ApproleState, timeout,
        )

    def show_config(self, name: str, *, timeout: Optional[float] = None) -> models.Approle:
        """Read an approle.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/keystore/authentication/approles/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/keystore/authentication/approles/{segment(name)}",
                is_idempotent=True,
            ),
            models.Approle, timeout,
        )


class ApprolesSecretIdsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, name: str, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> List[models.SecretId]:
        """List the secret-ids of an approle by accessor.

        Secret-ids that still work, without their values.

        ``GET /v1/state/keystore/authentication/approles/{name}/secret-ids``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/approles/{segment(name)}/secret-ids",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            List[models.SecretId], timeout,
        )

    def list_each(self, name: str, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> Iterator[models.SecretId]:
        """List the secret-ids of an approle by accessor. Follows the pages: entries come as they are read,

        `limit` at a time.

        Secret-ids that still work, without their values.

        ``GET /v1/state/keystore/authentication/approles/{name}/secret-ids``
        """
        return self._sender.pages(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/approles/{segment(name)}/secret-ids",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            models.SecretId, timeout,
        )


class AttestationKeysOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.AttestationKeysAnswer:
        """The keys that verify custody statements.

        A JWK Set (RFC 7517), without a token. Empty until the first statement. Keep a copy elsewhere, or the
        thumbprint: what this address answers is as good as its TLS certificate.

        ``GET /v1/state/system/attestation-keys``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/attestation-keys",
                is_idempotent=True,
                is_public=True,
            ),
            models.AttestationKeysAnswer, timeout,
        )


class AuditOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.AuditAnswer:
        """Keys and signed heads of the audit trail.

        Kept elsewhere, they show whether a copy of the trail is complete and authentic.

        ``GET /v1/state/system/audit``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/audit",
                is_idempotent=True,
            ),
            models.AuditAnswer, timeout,
        )


class BackupStatusOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.BackupsAnswer:
        """The backup that runs, with its progress, and how the scheduled ones went.

        Times and sizes of the last backups to the targets of the configuration, and why the last one failed,
        if it did.

        ``GET /v1/state/system/backup-status``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/backup-status",
                is_idempotent=True,
            ),
            models.BackupsAnswer, timeout,
        )


class CaOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def ask_ocsp(self, tenant: str, ca: str, body: bytes, *, timeout: Optional[float] = None) -> bytes:
        """The status of a certificate (RFC 6960, RFC 5019).

        Needs no token. The answer is signed by the key that issued the certificate; answers are kept and
        shared for some time.

        ``POST /v1/ca/{tenant}/{ca}/ocsp``
        """
        return self._sender.octets(
            Request(
                "POST",
                f"/v1/ca/{segment(tenant)}/{segment(ca)}/ocsp",
                octets=body, media_type="application/ocsp-request",
                is_idempotent=True,
                is_public=True,
            ),
            timeout,
        )

    def ask_ocsp_by_path(self, tenant: str, ca: str, request: str, *, timeout: Optional[float] = None) -> bytes:
        """The same with the request in the path, base64 (RFC 6960 appendix A.1).

        Needs no token. For clients and caches that ask by GET.

        ``GET /v1/ca/{tenant}/{ca}/ocsp/{request}``
        """
        return self._sender.octets(
            Request(
                "GET",
                f"/v1/ca/{segment(tenant)}/{segment(ca)}/ocsp/{segment(request)}",
                is_idempotent=True,
                is_public=True,
            ),
            timeout,
        )

    def create(self, body: models.TlsCaCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.TlsCa:
        """Create a TLS CA.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/keystore/tls/ca``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/keystore/tls/ca",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.TlsCa, timeout,
        )

    def csr(self, name: str, *, timeout: Optional[float] = None) -> models.CaCsrAnswer:
        """A certification request for the CA's key, to be signed by a root outside.

        For a CA that a root elsewhere signs: a key is made in the token, and import-cert takes in the
        certificate for it. The present certificate works until then.

        ``POST /v1/state/keystore/tls/ca/{name}/csr``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/tls/ca/{segment(name)}/csr",
                is_idempotent=False,
            ),
            models.CaCsrAnswer, timeout,
        )

    def delete(self, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete a TLS CA.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/keystore/tls/ca/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/keystore/tls/ca/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def download_certificates(self, tenant: str, ca: str, *, timeout: Optional[float] = None) -> str:
        """The certificate of a CA, and its issuers up to the root.

        Needs no token: relying parties and devices fetch it. In PEM, the certificate of the CA first.

        ``GET /v1/ca/{tenant}/{ca}/ca.pem``
        """
        return self._sender.text(
            Request(
                "GET",
                f"/v1/ca/{segment(tenant)}/{segment(ca)}/ca.pem",
                is_idempotent=True,
                is_public=True,
            ),
            timeout,
        )

    def download_crl(self, tenant: str, ca: str, *, timeout: Optional[float] = None) -> bytes:
        """The revocation list of the newest key of a CA, DER.

        Needs no token. Also of a deleted CA, until its last list ends.

        ``GET /v1/ca/{tenant}/{ca}/crl``
        """
        return self._sender.octets(
            Request(
                "GET",
                f"/v1/ca/{segment(tenant)}/{segment(ca)}/crl",
                is_idempotent=True,
                is_public=True,
            ),
            timeout,
        )

    def download_crl_of_version(self, tenant: str, ca: str, version: str, *, timeout: Optional[float] = None) -> bytes:
        """The revocation list of one key of a CA, DER: what its certificates point to.

        Needs no token. A CA that was renewed has a list for each of its keys.

        ``GET /v1/ca/{tenant}/{ca}/crl/{version}``
        """
        return self._sender.octets(
            Request(
                "GET",
                f"/v1/ca/{segment(tenant)}/{segment(ca)}/crl/{segment(version)}",
                is_idempotent=True,
                is_public=True,
            ),
            timeout,
        )

    def import_cert(self, name: str, body: models.CaImportCertRequest, *, timeout: Optional[float] = None) -> None:
        """Take in the CA's certificate signed outside, with its issuers up to the root.

        The certificate must be for the key of the last request and lead to the root that is given with it.

        ``POST /v1/state/keystore/tls/ca/{name}/import-cert``
        """
        return self._sender.nothing(
            Request(
                "POST",
                f"/v1/state/keystore/tls/ca/{segment(name)}/import-cert",
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def import_revocations(self, name: str, body: Optional[models.CaImportRevocationsRequest] = None, *, timeout: Optional[float] = None) -> models.CaImportRevocationsAnswer:
        """Revoke what a list of this CA that was kept says is revoked.

        After a restore: the backup knows nothing of what was revoked after it was made. `crl` is a revocation
        list that this CA published, as somebody kept it; its signature is verified, and dates and reasons are
        taken from it. `serials` are serial numbers from elsewhere, and need `execute` of `…/revoke` as well.
        Certificates that were issued after the backup are revoked too, although the CA does not know them.

        ``POST /v1/state/keystore/tls/ca/{name}/import-revocations``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/tls/ca/{segment(name)}/import-revocations",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.CaImportRevocationsAnswer, timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.TlsCaState]:
        """List the state of every TLS CA.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/tls/ca``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/keystore/tls/ca",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.TlsCaState], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.TlsCaState]:
        """List the state of every TLS CA. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/tls/ca``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/keystore/tls/ca",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.TlsCaState, timeout,
        )

    def list_config(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.TlsCa]:
        """List every TLS CA.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/tls/ca``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/config/keystore/tls/ca",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.TlsCa], timeout,
        )

    def list_config_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.TlsCa]:
        """List every TLS CA. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/tls/ca``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/config/keystore/tls/ca",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.TlsCa, timeout,
        )

    def merge(self, name: str, body: models.TlsCaMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Merge into a TLS CA.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/keystore/tls/ca/{name}``
        """
        return self._sender.nothing(
            Request(
                "PATCH",
                f"/v1/config/keystore/tls/ca/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def renew(self, name: str, *, timeout: Optional[float] = None) -> models.CaRenewAnswer:
        """Give the CA a new key and certificate; a root also gets roll-over certificates.

        Devices get certificates of the new key from now on. Those of the old one stay good until they end,
        and its revocation list goes on being made.

        ``POST /v1/state/keystore/tls/ca/{name}/renew``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/tls/ca/{segment(name)}/renew",
                is_idempotent=False,
            ),
            models.CaRenewAnswer, timeout,
        )

    def replace(self, name: str, body: models.TlsCaReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.TlsCa]:
        """Create or replace a TLS CA.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/keystore/tls/ca/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/keystore/tls/ca/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.TlsCa, timeout,
        )

    def revoke(self, name: str, body: models.CaRevokeRequest, *, timeout: Optional[float] = None) -> models.CaRevokeAnswer:
        """Revoke a certificate this CA issued.

        For good. The next revocation list and OCSP say so at once; a device that shows the certificate is
        refused. What a device renewed with it lives on: with `line`, all certificates end that renewals
        connect with it, those before it, after it and beside it.

        ``POST /v1/state/keystore/tls/ca/{name}/revoke``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/tls/ca/{segment(name)}/revoke",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.CaRevokeAnswer, timeout,
        )

    def show(self, name: str, *, timeout: Optional[float] = None) -> models.TlsCaState:
        """Read the state of a TLS CA.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/keystore/tls/ca/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/tls/ca/{segment(name)}",
                is_idempotent=True,
            ),
            models.TlsCaState, timeout,
        )

    def show_config(self, name: str, *, timeout: Optional[float] = None) -> models.TlsCa:
        """Read a TLS CA.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/keystore/tls/ca/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/keystore/tls/ca/{segment(name)}",
                is_idempotent=True,
            ),
            models.TlsCa, timeout,
        )

    def sign_csr(self, name: str, body: models.CaSignCsrRequest, *, timeout: Optional[float] = None) -> models.CaSignCsrAnswer:
        """Issue a certificate for a certification request.

        The names in the request must be allowed by the rules of `est`, and `ttl` is at most that of `est`,
        unless the policies allow `execute` of `…/sign-freely` as well. The certificate is made from the
        request, never copied: extensions that it asks for beyond its names are left out.

        ``POST /v1/state/keystore/tls/ca/{name}/sign-csr``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/tls/ca/{segment(name)}/sign-csr",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.CaSignCsrAnswer, timeout,
        )


class CaCertificatesOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, name: str, *, after: Optional[str] = None, limit: Optional[int] = None, contains: Optional[str] = None, status: Optional[models.CaCertificatesListStatus] = None, timeout: Optional[float] = None) -> List[models.IssuedCertificate]:
        """Certificates this CA issued, by serial number.

        All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000
        an answer.

        ``GET /v1/state/keystore/tls/ca/{name}/certificates``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/tls/ca/{segment(name)}/certificates",
                query={"after": after, "limit": limit, "contains": contains, "status": status},
                is_idempotent=True,
            ),
            List[models.IssuedCertificate], timeout,
        )

    def list_each(self, name: str, *, after: Optional[str] = None, limit: Optional[int] = None, contains: Optional[str] = None, status: Optional[models.CaCertificatesListStatus] = None, timeout: Optional[float] = None) -> Iterator[models.IssuedCertificate]:
        """Certificates this CA issued, by serial number. Follows the pages: entries come as they are read,

        `limit` at a time.

        All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000
        an answer.

        ``GET /v1/state/keystore/tls/ca/{name}/certificates``
        """
        return self._sender.pages(
            Request(
                "GET",
                f"/v1/state/keystore/tls/ca/{segment(name)}/certificates",
                query={"after": after, "limit": limit, "contains": contains, "status": status},
                is_idempotent=True,
            ),
            models.IssuedCertificate, timeout,
        )

    def show(self, name: str, serial: str, *, timeout: Optional[float] = None) -> models.IssuedCertificate:
        """One certificate this CA issued.

        With the certificate itself, which lists leave out.

        ``GET /v1/state/keystore/tls/ca/{name}/certificates/{serial}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/tls/ca/{segment(name)}/certificates/{segment(serial)}",
                is_idempotent=True,
            ),
            models.IssuedCertificate, timeout,
        )


class CaCustodyOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, name: str, *, generation: Optional[str] = None, timeout: Optional[float] = None) -> models.CaCustodyAnswer:
        """A signed statement about the custody of a CA key.

        What the token says of the key now: attributes, serial number, firmware. CA keys are made in the token
        and cannot leave it; where several tokens share their keys, they are wrapped. Verifiable offline, with
        `keystorectl custody verify` or any JWS library.

        ``GET /v1/state/keystore/tls/ca/{name}/custody``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/tls/ca/{segment(name)}/custody",
                query={"generation": generation},
                is_idempotent=True,
            ),
            models.CaCustodyAnswer, timeout,
        )


class ClusterOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def admit(self, body: models.ClusterAdmitRequest, *, timeout: Optional[float] = None) -> models.ClusterAdmitAnswer:
        """Admit the appliance that was invited.

        Asked by an appliance that joins, with the secret of its invitation and no token. It gets certificates
        for its member of etcd, and adds that itself. Asked again within the hour with the same keys, before
        the appliance has come in, it gets others, and those before are revoked. Nobody else is the same: the
        requests prove their keys.

        ``POST /v1/state/system/cluster/admit``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/admit",
                body=to_wire(body),
                is_idempotent=False,
                is_public=True,
            ),
            models.ClusterAdmitAnswer, timeout,
        )

    def admit_token(self, body: models.ClusterAdmitTokenRequest, *, timeout: Optional[float] = None) -> models.ClusterAdmitTokenAnswer:
        """Give the token of the appliance that was invited the own keys of the others.

        Asked by an appliance that joins a cluster with a token in each appliance, with the secret of its
        invitation and no token of a user, again and again until the state is `ready`. The wrapping key is
        rotated for it: the next one is carried to the token of every appliance, wrapped by RSA-OAEP, and
        every key is wrapped again under it.

        ``POST /v1/state/system/cluster/admit-token``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/admit-token",
                body=to_wire(body),
                is_idempotent=False,
                is_public=True,
            ),
            models.ClusterAdmitTokenAnswer, timeout,
        )

    def init(self, body: Optional[models.ClusterInitRequest] = None, *, timeout: Optional[float] = None) -> models.ClusterInitAnswer:
        """Make an appliance that stands alone the first of a cluster.

        Nothing that it has is lost. Its configuration has the section `cluster` with `member`. The answer
        comes first; then all processes are replaced, which takes a few seconds without an answer, and an
        attended appliance waits for its PIN.

        ``POST /v1/state/system/cluster/init``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/init",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.ClusterInitAnswer, timeout,
        )

    def invitations(self, *, timeout: Optional[float] = None) -> models.ClusterInvitationsAnswer:
        """The invitations into the cluster.

        Those of the last hour, without their secrets, and those by which an appliance was admitted that has
        not come in since.

        ``GET /v1/state/system/cluster/invitations``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/cluster/invitations",
                is_idempotent=True,
            ),
            models.ClusterInvitationsAnswer, timeout,
        )

    def invite(self, body: Optional[models.ClusterInviteRequest] = None, *, timeout: Optional[float] = None) -> models.ClusterInviteAnswer:
        """Invite an appliance into the cluster.

        The invitation has the address of this appliance, the fingerprint of its CA and a secret. It is good
        for one appliance and one hour, and over as soon as that has come in; who has it can join, so carry it
        like a password.

        ``POST /v1/state/system/cluster/invite``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/invite",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.ClusterInviteAnswer, timeout,
        )

    def join(self, body: models.ClusterJoinRequest, *, timeout: Optional[float] = None) -> models.ClusterJoinAnswer:
        """Join the cluster that has invited this appliance.

        Of an appliance that stands alone and has nothing yet but a way to log in: who may claim it may let it
        join, with the token of that login. Its configuration has the section `cluster` with `member`. The
        state of the cluster replaces its own, with all tokens: its former audit trail is kept beside the new
        one. Whether the HSM opens the keys of the cluster is proven first; what is refused leaves it as it
        was. With a token in each appliance, the own keys are carried into its token first; `conflict` says
        how far that is after 40 seconds, and the same request goes on with it. The answer comes first; then
        all processes are replaced, which takes seconds to minutes without an answer, and an attended
        appliance waits for its PIN.

        ``POST /v1/state/system/cluster/join``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/join",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.ClusterJoinAnswer, timeout,
        )

    def remove_member(self, body: models.ClusterRemoveMemberRequest, *, timeout: Optional[float] = None) -> models.ClusterRemoveMemberAnswer:
        """Remove an appliance that is lost for ever from the cluster.

        It never comes in again, and its name is given to no other. Health no longer misses it, the background
        jobs that it ran go on elsewhere, and its audit trail counts as lost, on record. One that was only
        stopped, or has lost its disk, is not removed: it comes back under its name. Ask any other appliance.
        Where the appliances run etcd, its member leaves, its certificates are revoked and its connections
        end; an etcd of your own has to refuse its certificate.

        ``POST /v1/state/system/cluster/remove-member``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/remove-member",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.ClusterRemoveMemberAnswer, timeout,
        )

    def show(self, *, timeout: Optional[float] = None) -> models.ClusterAnswer:
        """The appliances that share the store.

        As the answering appliance sees them. One that is cut off from the majority answers this from its last
        state to root of the tenant `system`, says so by `cut-off`, and names in `warnings` which members of
        etcd it reaches.

        ``GET /v1/state/system/cluster``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/cluster",
                is_idempotent=True,
            ),
            models.ClusterAnswer, timeout,
        )

    def withdraw_invitation(self, body: models.ClusterWithdrawInvitationRequest, *, timeout: Optional[float] = None) -> models.ClusterWithdrawInvitationAnswer:
        """Withdraw an invitation into the cluster.

        Nobody comes in by it any more. Of an appliance that was admitted by it and has not come in, the
        certificates are revoked and its member of etcd leaves; one that has come in is removed with
        `remove-member`.

        ``POST /v1/state/system/cluster/withdraw-invitation``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/cluster/withdraw-invitation",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.ClusterWithdrawInvitationAnswer, timeout,
        )


class CryptoFunctionsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def random_bytes(self, body: Optional[models.RandomBytesRequest] = None, *, timeout: Optional[float] = None) -> models.RandomBytesAnswer:
        """Generate random bytes.

        From the generator of the token, never from that of a process.

        ``POST /v1/state/keystore/crypto-functions/random-bytes``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/keystore/crypto-functions/random-bytes",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.RandomBytesAnswer, timeout,
        )


class FindingsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def answer(self, finding: str, body: Optional[models.AnswerFindingRequest] = None, *, timeout: Optional[float] = None) -> models.AnswerFindingAnswer:
        """Answer a finding: a person knows of it.

        From then on it is no part of health. What is found with other numbers is one again.

        ``POST /v1/state/system/findings/{finding}/answer``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/system/findings/{segment(finding)}/answer",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.AnswerFindingAnswer, timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> List[models.Finding]:
        """What a start or a background job has found, and who has answered it.

        Of this appliance. What nobody has answered is a part of health.

        ``GET /v1/state/system/findings``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/findings",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            List[models.Finding], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> Iterator[models.Finding]:
        """What a start or a background job has found, and who has answered it. Follows the pages: entries come

        as they are read, `limit` at a time.

        Of this appliance. What nobody has answered is a part of health.

        ``GET /v1/state/system/findings``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/system/findings",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            models.Finding, timeout,
        )

    def show(self, finding: str, *, timeout: Optional[float] = None) -> models.FindingAnswer:
        """One finding.

        As in the list of all findings.

        ``GET /v1/state/system/findings/{finding}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/system/findings/{segment(finding)}",
                is_idempotent=True,
            ),
            models.FindingAnswer, timeout,
        )


class HealthOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.HealthAnswer:
        """Whether the appliance works.

        The answer has the same form in both cases; the status is 503 while something is not well.

        ``GET /v1/state/system/health``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/health",
                is_idempotent=True,
                is_public=True,
            ),
            models.HealthAnswer, timeout,
        )


class HsmOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.HsmAnswer:
        """Tokens, mechanisms and latencies.

        The configured PKCS#11 tokens as last seen by the answering worker. Latencies are in microseconds.

        ``GET /v1/state/system/hsm``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/hsm",
                is_idempotent=True,
            ),
            models.HsmAnswer, timeout,
        )


class ImageOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.ImageAnswer:
        """The bootable image: version, slots, trial, last update.

        An update is taken from a medium, when every key of the running version has signed it.

        ``GET /v1/state/system/image``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/image",
                is_idempotent=True,
            ),
            models.ImageAnswer, timeout,
        )


class KeystoreOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def import_openpgp(self, body: models.ImportOpenpgpRequest, *, timeout: Optional[float] = None) -> models.ImportOpenpgpAnswer:
        """Make a transit key from an OpenPGP public key block.

        The new key verifies signatures (openpgp-verify by any signing key of the certificate, verify by the
        one in keys). It never signs. Private keys go through import, as PEM.

        ``POST /v1/state/keystore/import-openpgp``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/keystore/import-openpgp",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.ImportOpenpgpAnswer, timeout,
        )


class LoginsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def logout(self, *, timeout: Optional[float] = None) -> None:
        """End the own token, and with it its session.

        The token ends at once, with the tokens that it made. A token that ended already is answered 401.

        ``POST /v1/logout``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/logout",
                is_idempotent=False,
            ),
            timeout,
        )


class MetricsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> str:
        """Metrics for Prometheus.

        Text format 0.0.4. Counters are sums over all worker processes since the start; gauges are of those
        that answer within two seconds.

        ``GET /v1/state/system/metrics``
        """
        return self._sender.text(
            Request(
                "GET",
                "/v1/state/system/metrics",
                is_idempotent=True,
            ),
            timeout,
        )


class OidcOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, body: models.OidcServiceCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.OidcService:
        """Create an OIDC service.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/keystore/authentication/oidc``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/keystore/authentication/oidc",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.OidcService, timeout,
        )

    def delete(self, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete an OIDC service.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/keystore/authentication/oidc/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/keystore/authentication/oidc/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def explain(self, name: str, body: Optional[models.OidcExplainRequest] = None, *, timeout: Optional[float] = None) -> models.OidcExplainAnswer:
        """Say which roles claims match, and why not.

        Takes `claims`, or as `login` the reference of a sign-in that failed within the last day. Refused
        where policies hide what it tells of the service or of a role.

        ``POST /v1/state/keystore/authentication/oidc/{name}/explain``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/authentication/oidc/{segment(name)}/explain",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.OidcExplainAnswer, timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.OidcServiceState]:
        """List the state of every OIDC service.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/authentication/oidc``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/keystore/authentication/oidc",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.OidcServiceState], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.OidcServiceState]:
        """List the state of every OIDC service. Follows the pages: entries come as they are read, `limit` at a

        time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/authentication/oidc``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/keystore/authentication/oidc",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.OidcServiceState, timeout,
        )

    def list_config(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.OidcService]:
        """List every OIDC service.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/authentication/oidc``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/config/keystore/authentication/oidc",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.OidcService], timeout,
        )

    def list_config_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.OidcService]:
        """List every OIDC service. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/authentication/oidc``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/config/keystore/authentication/oidc",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.OidcService, timeout,
        )

    def login(self, body: models.OidcLoginRequest, *, timeout: Optional[float] = None) -> models.OidcLoginAnswer:
        """Ask for a sign-in that a person finishes in a browser.

        For programs without a browser: a person opens `login-url`, compares `user-code` and signs in; the
        program asks /v1/oidc-login/poll with `poll-token` meanwhile.

        ``POST /v1/oidc-login``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/oidc-login",
                body=to_wire(body),
                is_idempotent=False,
                is_public=True,
            ),
            models.OidcLoginAnswer, timeout,
        )

    def login_poll(self, body: models.OidcLoginPollRequest, *, timeout: Optional[float] = None) -> models.OidcLoginPollAnswer:
        """Fetch the token of a sign-in, once it is approved.

        Until then 400 with `authorization-pending`; the member `error` carries the same in the spelling of
        RFC 8628.

        ``POST /v1/oidc-login/poll``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/oidc-login/poll",
                body=to_wire(body),
                is_idempotent=False,
                is_public=True,
            ),
            models.OidcLoginPollAnswer, timeout,
        )

    def merge(self, name: str, body: models.OidcServiceMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Merge into an OIDC service.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/keystore/authentication/oidc/{name}``
        """
        return self._sender.nothing(
            Request(
                "PATCH",
                f"/v1/config/keystore/authentication/oidc/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def replace(self, name: str, body: models.OidcServiceReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.OidcService]:
        """Create or replace an OIDC service.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/keystore/authentication/oidc/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/keystore/authentication/oidc/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.OidcService, timeout,
        )

    def show(self, name: str, *, timeout: Optional[float] = None) -> models.OidcServiceState:
        """Read the state of an OIDC service.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/keystore/authentication/oidc/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/oidc/{segment(name)}",
                is_idempotent=True,
            ),
            models.OidcServiceState, timeout,
        )

    def show_config(self, name: str, *, timeout: Optional[float] = None) -> models.OidcService:
        """Read an OIDC service.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/keystore/authentication/oidc/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/keystore/authentication/oidc/{segment(name)}",
                is_idempotent=True,
            ),
            models.OidcService, timeout,
        )

    def test(self, name: str, body: Optional[models.OidcTestRequest] = None, *, timeout: Optional[float] = None) -> models.OidcTestAnswer:
        """Check a provider without a login.

        Always 200: faults are in `findings`, each with its fix. Refused where policies hide what it tells of
        the service.

        ``POST /v1/state/keystore/authentication/oidc/{name}/test``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/authentication/oidc/{segment(name)}/test",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.OidcTestAnswer, timeout,
        )


class OidcRolesOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, service: str, body: models.OidcRoleCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.OidcRole:
        """Create an OIDC role.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/keystore/authentication/oidc/{service}/roles``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.OidcRole, timeout,
        )

    def delete(self, service: str, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete an OIDC role.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/keystore/authentication/oidc/{service}/roles/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def list(self, service: str, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.OidcRoleState]:
        """List the state of every OIDC role.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/authentication/oidc/{service}/roles``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/oidc/{segment(service)}/roles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.OidcRoleState], timeout,
        )

    def list_each(self, service: str, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.OidcRoleState]:
        """List the state of every OIDC role. Follows the pages: entries come as they are read, `limit` at a

        time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/authentication/oidc/{service}/roles``
        """
        return self._sender.pages(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/oidc/{segment(service)}/roles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.OidcRoleState, timeout,
        )

    def list_config(self, service: str, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.OidcRole]:
        """List every OIDC role.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/authentication/oidc/{service}/roles``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.OidcRole], timeout,
        )

    def list_config_each(self, service: str, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.OidcRole]:
        """List every OIDC role. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/authentication/oidc/{service}/roles``
        """
        return self._sender.pages(
            Request(
                "GET",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.OidcRole, timeout,
        )

    def merge(self, service: str, name: str, body: models.OidcRoleMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Merge into an OIDC role.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/keystore/authentication/oidc/{service}/roles/{name}``
        """
        return self._sender.nothing(
            Request(
                "PATCH",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def replace(self, service: str, name: str, body: models.OidcRoleReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.OidcRole]:
        """Create or replace an OIDC role.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/keystore/authentication/oidc/{service}/roles/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.OidcRole, timeout,
        )

    def show(self, service: str, name: str, *, timeout: Optional[float] = None) -> models.OidcRoleState:
        """Read the state of an OIDC role.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/keystore/authentication/oidc/{service}/roles/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/authentication/oidc/{segment(service)}/roles/{segment(name)}",
                is_idempotent=True,
            ),
            models.OidcRoleState, timeout,
        )

    def show_config(self, service: str, name: str, *, timeout: Optional[float] = None) -> models.OidcRole:
        """Read an OIDC role.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/keystore/authentication/oidc/{service}/roles/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/keystore/authentication/oidc/{segment(service)}/roles/{segment(name)}",
                is_idempotent=True,
            ),
            models.OidcRole, timeout,
        )


class PoliciesOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, body: models.PolicyCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.PolicyWithWarnings:
        """Create a policy.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/policy/policies``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/policy/policies",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.PolicyWithWarnings, timeout,
        )

    def delete(self, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete a policy.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/policy/policies/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/policy/policies/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.PolicyState]:
        """List the state of every policy.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/policy/policies``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/policy/policies",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.PolicyState], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.PolicyState]:
        """List the state of every policy. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/policy/policies``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/policy/policies",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.PolicyState, timeout,
        )

    def list_config(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.Policy]:
        """List every policy.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/policy/policies``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/config/policy/policies",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.Policy], timeout,
        )

    def list_config_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.Policy]:
        """List every policy. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/policy/policies``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/config/policy/policies",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.Policy, timeout,
        )

    def merge(self, name: str, body: models.PolicyMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.PolicyWithWarnings]:
        """Merge into a policy.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/policy/policies/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PATCH",
                f"/v1/config/policy/policies/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.PolicyWithWarnings, timeout,
        )

    def replace(self, name: str, body: models.PolicyReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.PolicyWithWarnings]:
        """Create or replace a policy.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/policy/policies/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/policy/policies/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.PolicyWithWarnings, timeout,
        )

    def show(self, name: str, *, timeout: Optional[float] = None) -> models.PolicyState:
        """Read the state of a policy.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/policy/policies/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/policy/policies/{segment(name)}",
                is_idempotent=True,
            ),
            models.PolicyState, timeout,
        )

    def show_config(self, name: str, *, timeout: Optional[float] = None) -> models.Policy:
        """Read a policy.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/policy/policies/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/policy/policies/{segment(name)}",
                is_idempotent=True,
            ),
            models.Policy, timeout,
        )


class PolicyOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def check(self, body: models.PolicyCheckRequest, *, timeout: Optional[float] = None) -> models.PolicyCheckAnswer:
        """Ask what the policies say, without doing it.

        The same decision as for a request, with the reason, for the own token, for another (`accessor`) or
        for `policies`. Another token needs a rule that allows `read` of
        `/v1/state/keystore/tokens/<accessor>`; policies that are not those of the own token need one for
        `read` of `/v1/state/policy/policies/<name>`. What depends on the content of a request stays open:
        values that `restricted` speaks of, giving policies that one does not have, and names in fields
        (`also-needs`), unless `names` says them.

        ``POST /v1/state/policy/check``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/policy/check",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.PolicyCheckAnswer, timeout,
        )

    def check_many(self, body: models.PolicyCheckManyRequest, *, timeout: Optional[float] = None) -> models.PolicyCheckManyAnswer:
        """Ask what the policies say about up to 200 requests.

        As `check`, for the own token, and allowed by the same rules.

        ``POST /v1/state/policy/check-many``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/policy/check-many",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.PolicyCheckManyAnswer, timeout,
        )


class ShippingOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> List[models.Shipping]:
        """State of every receiver of the audit trail and the logs.

        Receivers are configured in the section `shipping` of the configuration.

        ``GET /v1/state/system/shipping``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/system/shipping",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            List[models.Shipping], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> Iterator[models.Shipping]:
        """State of every receiver of the audit trail and the logs. Follows the pages: entries come as they are

        read, `limit` at a time.

        Receivers are configured in the section `shipping` of the configuration.

        ``GET /v1/state/system/shipping``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/system/shipping",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            models.Shipping, timeout,
        )

    def show(self, destination: str, *, timeout: Optional[float] = None) -> models.ShippingAnswer:
        """State of one receiver.

        As in the list of all receivers.

        ``GET /v1/state/system/shipping/{destination}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/system/shipping/{segment(destination)}",
                is_idempotent=True,
            ),
            models.ShippingAnswer, timeout,
        )

    def test(self, destination: str, body: Optional[models.ShippingTestRequest] = None, *, timeout: Optional[float] = None) -> models.ShippingTestAnswer:
        """Send a test event to a receiver.

        Always 200: whether the receiver took it, and what it said. The record is marked as a test and is in
        no audit trail.

        ``POST /v1/state/system/shipping/{destination}/test``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/system/shipping/{segment(destination)}/test",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.ShippingTestAnswer, timeout,
        )


class SystemOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def accept_clock(self, *, timeout: Optional[float] = None) -> None:
        """Accept the clock.

        For a clock that was set back on purpose, or was wrongly in the future before: held work goes on.

        ``POST /v1/state/system/accept-clock``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/system/accept-clock",
                is_idempotent=False,
            ),
            timeout,
        )

    def appliance_download_ca_certificates(self, *, timeout: Optional[float] = None) -> str:
        """The CA certificates of this appliance, for callers that know only its address.

        A caller that does not trust them yet compares the fingerprint with one from another source.

        ``GET /v1/ca/system/appliance/ca.pem``
        """
        return self._sender.text(
            Request(
                "GET",
                "/v1/ca/system/appliance/ca.pem",
                is_idempotent=True,
                is_public=True,
            ),
            timeout,
        )

    def backup(self, body: Optional[models.SystemBackupRequest] = None, *, timeout: Optional[float] = None) -> Iterator[bytes]:
        """Take an encrypted backup of the whole appliance.

        The answer is an age file around a tar archive, encrypted under the passphrase or to the recipients.
        It is complete only if it has the length that content-length says. Keep what opens it apart from it:
        nothing else does.

        ``POST /v1/state/system/backup``
        """
        return self._sender.stream(
            Request(
                "POST",
                "/v1/state/system/backup",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            timeout,
        )

    def change_pin(self, body: Optional[models.ChangePinRequest] = None, *, timeout: Optional[float] = None) -> None:
        """Replace the user PIN of a token by a new random one.

        For a token whose PIN the appliance chose itself and keeps in its own file, as that of the embedded
        token: nobody sees the new one. Processes that run stay logged in.

        ``POST /v1/state/system/change-pin``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/system/change-pin",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            timeout,
        )

    def end_credentials(self, *, timeout: Optional[float] = None) -> models.SystemEndCredentialsAnswer:
        """End all tokens and secret-ids that were made before the restore, and what such secret-ids gave since.

        Those of all tenants, with what descends from them: some of them had ended or were used up after the
        backup, and nobody knows which. So do the tokens of logins since with such a secret-id. The token of
        this request goes on, and what else was made since. A tenant whose root token ends may be given one
        once more with `token/create-root`.

        ``POST /v1/state/system/end-credentials``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/end-credentials",
                is_idempotent=False,
            ),
            models.SystemEndCredentialsAnswer, timeout,
        )

    def operate(self, body: models.SystemOperateRequest, *, timeout: Optional[float] = None) -> None:
        """Reboot, power off or reset the appliance.

        A factory reset destroys every key of the embedded token, the store and the audit trail; keys in an
        HSM of your own stay there.

        ``POST /v1/state/system/operate``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/system/operate",
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def pull_backup(self, *, timeout: Optional[float] = None) -> Iterator[bytes]:
        """Take a backup to the recipients of the configuration.

        As backup, for a caller that may fetch backups and open none: the recipients are those of the
        configuration, and it cannot choose others. A policy that allows execute on this path alone is enough.

        ``POST /v1/state/system/pull-backup``
        """
        return self._sender.stream(
            Request(
                "POST",
                "/v1/state/system/pull-backup",
                is_idempotent=False,
            ),
            timeout,
        )

    def rotate_attestation_key(self, *, timeout: Optional[float] = None) -> models.RotateAttestationKeyAnswer:
        """Replace the key that signs custody statements.

        Another key is made in the token and the present one destroyed there, so that nothing is signed under
        it any more. Its public key stays published.

        ``POST /v1/state/system/rotate-attestation-key``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/rotate-attestation-key",
                is_idempotent=False,
            ),
            models.RotateAttestationKeyAnswer, timeout,
        )

    def rotate_wrapping_key(self, body: Optional[models.RotateWrappingKeyRequest] = None, *, timeout: Optional[float] = None) -> models.RotateWrappingKeyAnswer:
        """Rotate the key that wraps all others.

        New keys are wrapped under the new one at once. Every stored key is rewrapped in the background,
        inside the token; the old wrapping key is destroyed when nothing needs it. Progress is in the answer
        of `GET /v1/state/system/hsm`.

        ``POST /v1/state/system/rotate-wrapping-key``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/rotate-wrapping-key",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.RotateWrappingKeyAnswer, timeout,
        )

    def run_backup(self, *, timeout: Optional[float] = None) -> None:
        """Begin a backup to the targets of the configuration now.

        Answered when it has begun; backup-status tells how far it is and how it went.

        ``POST /v1/state/system/run-backup``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/system/run-backup",
                is_idempotent=False,
            ),
            timeout,
        )

    def seal(self, *, timeout: Optional[float] = None) -> None:
        """Seal the appliance until a person gives the PIN.

        No new use of a key begins, running ones end, and the keys are removed from the memory of every
        process. Then the request is answered, as the last one on its connection. A sealed appliance answers
        only health, its CA certificates and unseal.

        ``POST /v1/state/keystore/system/seal``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/keystore/system/seal",
                is_idempotent=False,
            ),
            timeout,
        )

    def test_hsm(self, *, timeout: Optional[float] = None) -> models.TestHsmAnswer:
        """Test every token, and look at its objects.

        A quick test of what the service needs always; `keystorectl hsm test` tries every operation. The
        attributes are read from the token, not from the store.

        ``POST /v1/state/system/test-hsm``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/system/test-hsm",
                is_idempotent=True,
            ),
            models.TestHsmAnswer, timeout,
        )

    def unseal(self, body: Optional[models.SystemUnsealRequest] = None, *, timeout: Optional[float] = None) -> None:
        """Give the PIN of the tokens to a sealed appliance.

        A PIN is looked at from those who give the unseal code of this seal, or are at the machine itself as
        root or the user of the service. It is tried once. After a refused one the next attempt has to wait;
        after three the daemon must be started again, because tokens lock themselves.

        ``POST /v1/state/keystore/system/unseal``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/keystore/system/unseal",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
                is_public=True,
            ),
            timeout,
        )


class TenantsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, body: models.TenantCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.Tenant:
        """Create a tenant.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/tenants``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/tenants",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.Tenant, timeout,
        )

    def delete(self, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete a tenant.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/tenants/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/tenants/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.TenantState]:
        """List the state of every tenant.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/tenants``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/tenants",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.TenantState], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.TenantState]:
        """List the state of every tenant. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/tenants``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/tenants",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.TenantState, timeout,
        )

    def list_config(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> List[models.Tenant]:
        """List every tenant.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/tenants``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/config/tenants",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            List[models.Tenant], timeout,
        )

    def list_config_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, timeout: Optional[float] = None) -> Iterator[models.Tenant]:
        """List every tenant. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/tenants``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/config/tenants",
                query={"after": after, "limit": limit, "selector": selector},
                is_idempotent=True,
            ),
            models.Tenant, timeout,
        )

    def merge(self, name: str, body: models.TenantMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Merge into a tenant.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/tenants/{name}``
        """
        return self._sender.nothing(
            Request(
                "PATCH",
                f"/v1/config/tenants/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def replace(self, name: str, body: models.TenantReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.Tenant]:
        """Create or replace a tenant.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/tenants/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/tenants/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.Tenant, timeout,
        )

    def show(self, name: str, *, timeout: Optional[float] = None) -> models.TenantState:
        """Read the state of a tenant.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/tenants/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/tenants/{segment(name)}",
                is_idempotent=True,
            ),
            models.TenantState, timeout,
        )

    def show_config(self, name: str, *, timeout: Optional[float] = None) -> models.Tenant:
        """Read a tenant.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/tenants/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/tenants/{segment(name)}",
                is_idempotent=True,
            ),
            models.Tenant, timeout,
        )


class TokenOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, body: Optional[models.TokenCreateRequest] = None, *, timeout: Optional[float] = None) -> models.TokenCreateAnswer:
        """Make a token with policies of the own one.

        The new token is a child: it ends with the caller’s token and works only from where that one works.
        Its user stays the caller’s.

        ``POST /v1/state/keystore/token/create``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/keystore/token/create",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.TokenCreateAnswer, timeout,
        )

    def create_root(self, body: models.TokenCreateRootRequest, *, timeout: Optional[float] = None) -> models.TokenCreateRootAnswer:
        """Make the root token of a tenant, once.

        For the system tenant's root alone. The token is shown this once; a second call is refused with 409,
        whatever became of the first token.

        ``POST /v1/state/keystore/token/create-root``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/keystore/token/create-root",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.TokenCreateRootAnswer, timeout,
        )

    def disable(self, body: Optional[models.TokenDisableRequest] = None, *, timeout: Optional[float] = None) -> None:
        """End a token and its children at once.

        The token is always named, the own one too: an empty request must not end a root token, which is made
        once.

        ``POST /v1/state/keystore/token/disable``
        """
        return self._sender.nothing(
            Request(
                "POST",
                "/v1/state/keystore/token/disable",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            timeout,
        )

    def info(self, body: Optional[models.TokenInfoRequest] = None, *, timeout: Optional[float] = None) -> models.TokenInfoAnswer:
        """What a token is; without fields: the own one.

        Named by `token` or by `accessor`. Another token than the own one needs a rule that allows `read` of
        `/v1/state/keystore/tokens/<accessor>`.

        ``POST /v1/state/keystore/token/info``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/keystore/token/info",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.TokenInfoAnswer, timeout,
        )

    def refresh(self, body: Optional[models.TokenRefreshRequest] = None, *, timeout: Optional[float] = None) -> models.TokenRefreshAnswer:
        """Give the own token a new expiry.

        The value stays. The new expiry is now plus the smaller of `increment` and the token's ttl, never past
        its longest life.

        ``POST /v1/state/keystore/token/refresh``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/state/keystore/token/refresh",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.TokenRefreshAnswer, timeout,
        )


class TokensOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> List[models.Token]:
        """List the tokens of the tenant by accessor.

        Tokens that work, without their values. The accessor names a token where it is looked at or ended.

        ``GET /v1/state/keystore/tokens``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/keystore/tokens",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            List[models.Token], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> Iterator[models.Token]:
        """List the tokens of the tenant by accessor. Follows the pages: entries come as they are read, `limit`

        at a time.

        Tokens that work, without their values. The accessor names a token where it is looked at or ended.

        ``GET /v1/state/keystore/tokens``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/keystore/tokens",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            models.Token, timeout,
        )


class TopicsOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> List[models.Topic]:
        """List the topics one can read.

        The audit trail for every tenant, and for the tenant `system` the log of the appliance.

        ``GET /v1/state/topics``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/topics",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            List[models.Topic], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> Iterator[models.Topic]:
        """List the topics one can read. Follows the pages: entries come as they are read, `limit` at a time.

        The audit trail for every tenant, and for the tenant `system` the log of the appliance.

        ``GET /v1/state/topics``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/topics",
                query={"after": after, "limit": limit},
                is_idempotent=True,
            ),
            models.Topic, timeout,
        )

    def show(self, topic: str, *, since: Optional[str] = None, before: Optional[str] = None, limit: Optional[int] = None, follow: Optional[bool] = None, who: Optional[str] = None, what: Optional[str] = None, where: Optional[str] = None, result: Optional[models.TopicsShowResult] = None, reads: Optional[bool] = None, timeout: Optional[float] = None) -> Iterator[Any]:
        """Read a topic as JSON lines.

        Records in the order of time, one JSON object a line; without parameters all there are. A stream that
        follows ends when the token does. What finds little is searched a part at a time: where an answer has
        a `Link`, it was not all, and that is where to go on.

        ``GET /v1/state/topics/{topic}``
        """
        return self._sender.lines(
            Request(
                "GET",
                f"/v1/state/topics/{segment(topic)}",
                query={"since": since, "before": before, "limit": limit, "follow": follow, "who": who, "what": what, "where": where, "result": result, "reads": reads},
                is_idempotent=True,
            ),
            timeout,
        )


class TransitKeysOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def backup(self, name: str, *, timeout: Optional[float] = None) -> models.BackupAnswer:
        """Back up a key in clear.

        One text that restore takes, with all versions and their material in clear: keep it like the key. The
        key must have `allow-plaintext-backup`, which cannot be set back.

        ``POST /v1/state/keystore/transit-keys/{name}/backup``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/backup",
                is_idempotent=True,
            ),
            models.BackupAnswer, timeout,
        )

    def create(self, body: models.TransitKeyCreation, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.TransitKey:
        """Create a transit key.

        Under the name in the body, which must be free. What is left out gets its default. With
        `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/keystore/transit-keys``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/keystore/transit-keys",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.TransitKey, timeout,
        )

    def create_batch(self, body: models.TransitKeysCreateBatchRequest, *, validate: Optional[bool] = None, timeout: Optional[float] = None) -> models.TransitKeysCreateBatchAnswer:
        """Create many transit keys.

        1 to 1,000 at once, each as if it were created alone, and each answered on its own, in order: with its
        document, or with `code`. The status is 200 even when every one failed: `failed` says how many. When
        the whole is answered with an error from 500 up, some may have been created: repeat the batch, and
        those answer `already-exists`. With `validate=true` everything is checked and nothing stored.

        ``POST /v1/config/keystore/transit-keys-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                "/v1/config/keystore/transit-keys-batch",
                query={"validate": validate},
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.TransitKeysCreateBatchAnswer, timeout,
        )

    def decrypt(self, name: str, body: models.DecryptRequest, *, timeout: Optional[float] = None) -> models.DecryptAnswer:
        """Decrypt a ciphertext.

        One answer for every reason why a ciphertext does not open: another key, another context, other
        associated data, or a change of it.

        ``POST /v1/state/keystore/transit-keys/{name}/decrypt``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/decrypt",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.DecryptAnswer, timeout,
        )

    def decrypt_batch(self, name: str, body: models.DecryptBatchRequest, *, timeout: Optional[float] = None) -> models.DecryptBatchAnswer:
        """Decrypt a ciphertext: a batch.

        The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`.
        Policies that speak of `decrypt` decide about batches too. The status is 200 even when every request
        failed: `failed` says how many.

        ``POST /v1/state/keystore/transit-keys/{name}/decrypt-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/decrypt-batch",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.DecryptBatchAnswer, timeout,
        )

    def delete(self, name: str, *, validate: Optional[bool] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Delete a transit key.

        For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
        deletes, without. With `validate=true` everything is checked and nothing stored.

        ``DELETE /v1/config/keystore/transit-keys/{name}``
        """
        return self._sender.nothing(
            Request(
                "DELETE",
                f"/v1/config/keystore/transit-keys/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match},
                is_idempotent=True,
            ),
            timeout,
        )

    def encrypt(self, name: str, body: models.EncryptRequest, *, timeout: Optional[float] = None) -> models.EncryptAnswer:
        """Encrypt a plaintext of up to 2 MiB.

        The ciphertext names the version of the key, and decrypt finds it by that. A derived key needs
        `context`. A policy may allow encryption without decryption.

        ``POST /v1/state/keystore/transit-keys/{name}/encrypt``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/encrypt",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.EncryptAnswer, timeout,
        )

    def encrypt_batch(self, name: str, body: models.EncryptBatchRequest, *, timeout: Optional[float] = None) -> models.EncryptBatchAnswer:
        """Encrypt a plaintext of up to 2 MiB: a batch.

        The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`.
        Policies that speak of `encrypt` decide about batches too. The status is 200 even when every request
        failed: `failed` says how many.

        ``POST /v1/state/keystore/transit-keys/{name}/encrypt-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/encrypt-batch",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.EncryptBatchAnswer, timeout,
        )

    def export(self, name: str, body: Optional[models.ExportRequest] = None, *, timeout: Optional[float] = None) -> models.ExportAnswer:
        """Export key material.

        In clear, or wrapped under a public key of yours: AES key wrap with padding under RSA-OAEP. The key
        must be `exportable`, which cannot be set back.

        ``POST /v1/state/keystore/transit-keys/{name}/export``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/export",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.ExportAnswer, timeout,
        )

    def export_openpgp(self, name: str, body: Optional[models.ExportOpenpgpRequest] = None, *, timeout: Optional[float] = None) -> models.ExportOpenpgpAnswer:
        """Export key material as OpenPGP private key blocks.

        As export does, under the same policies: a rule for `export` decides about this too. The key must be
        `exportable`.

        ``POST /v1/state/keystore/transit-keys/{name}/export-openpgp``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/export-openpgp",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.ExportOpenpgpAnswer, timeout,
        )

    def export_openpgp_public(self, name: str, body: Optional[models.ExportOpenpgpPublicRequest] = None, *, timeout: Optional[float] = None) -> models.ExportOpenpgpPublicAnswer:
        """Export the OpenPGP public key block.

        Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it.
        With all-versions and subkeys one block that verifies everything the primary key and its subkeys have
        signed. Needs no exportable.

        ``POST /v1/state/keystore/transit-keys/{name}/export-openpgp-public``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/export-openpgp-public",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.ExportOpenpgpPublicAnswer, timeout,
        )

    def export_openpgp_revocation(self, name: str, body: Optional[models.ExportOpenpgpRevocationRequest] = None, *, timeout: Optional[float] = None) -> models.ExportOpenpgpRevocationAnswer:
        """Make an OpenPGP revocation certificate.

        Publishing it revokes the key for everybody; the key itself goes on working here. Of a subkey, its
        block with the revocation in it. With the reasons superseded and retired earlier signatures stay good.

        ``POST /v1/state/keystore/transit-keys/{name}/export-openpgp-revocation``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/export-openpgp-revocation",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.ExportOpenpgpRevocationAnswer, timeout,
        )

    def generate_data_key(self, name: str, body: Optional[models.GenerateDataKeyRequest] = None, *, timeout: Optional[float] = None) -> models.GenerateDataKeyAnswer:
        """Make a data key.

        For data that is encrypted outside: keep the ciphertext beside it, and let decrypt open it again. With
        type `wrapped` the data key itself is not answered.

        ``POST /v1/state/keystore/transit-keys/{name}/generate-data-key``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/generate-data-key",
                body=to_wire(body) if body is not None else {},
                is_idempotent=True,
            ),
            models.GenerateDataKeyAnswer, timeout,
        )

    def hmac(self, name: str, body: models.HmacRequest, *, timeout: Optional[float] = None) -> models.HmacAnswer:
        """Calculate an HMAC; check it with verify.

        Under a secret of its own in each version, which every kind of key has. The text is not encrypted;
        verify checks it.

        ``POST /v1/state/keystore/transit-keys/{name}/hmac``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/hmac",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.HmacAnswer, timeout,
        )

    def hmac_batch(self, name: str, body: models.HmacBatchRequest, *, timeout: Optional[float] = None) -> models.HmacBatchAnswer:
        """Calculate an HMAC; check it with verify: a batch.

        The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`.
        Policies that speak of `hmac` decide about batches too. The status is 200 even when every request
        failed: `failed` says how many.

        ``POST /v1/state/keystore/transit-keys/{name}/hmac-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/hmac-batch",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.HmacBatchAnswer, timeout,
        )

    def import_(self, name: str, body: Optional[models.ImportRequest] = None, *, timeout: Optional[float] = None) -> None:
        """Import key material as a new version.

        Material in clear as `data`, or wrapped as `ciphertext`, under the key of the tenant or under one that
        `import-wrapping-key` made for this import. Type and size must be those of the key.

        ``POST /v1/state/keystore/transit-keys/{name}/import``
        """
        return self._sender.nothing(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/import",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            timeout,
        )

    def import_wrapping_key(self, name: str, body: Optional[models.ImportWrappingKeyOfOneRequest] = None, *, timeout: Optional[float] = None) -> models.ImportWrappingKeyOfOneAnswer:
        """Make a wrapping key for one import into this key.

        It opens one import into this transit key, named by `import-id`, and ends then or after `ttl`. Another
        one takes its place. Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES
        key wrap with padding of the material.

        ``POST /v1/state/keystore/transit-keys/{name}/import-wrapping-key``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/import-wrapping-key",
                body=to_wire(body) if body is not None else {},
                is_idempotent=False,
            ),
            models.ImportWrappingKeyOfOneAnswer, timeout,
        )

    def list(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, contains: Optional[str] = None, cipher: Optional[models.TransitKeysListConfigCipher] = None, custody: Optional[models.TransitKeysListConfigCustody] = None, use: Optional[models.TransitKeysListConfigUse] = None, attention: Optional[bool] = None, timeout: Optional[float] = None) -> List[models.TransitKeyState]:
        """List the state of every transit key.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/transit-keys``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/keystore/transit-keys",
                query={"after": after, "limit": limit, "selector": selector, "contains": contains, "cipher": cipher, "custody": custody, "use": use, "attention": attention},
                is_idempotent=True,
            ),
            List[models.TransitKeyState], timeout,
        )

    def list_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, contains: Optional[str] = None, cipher: Optional[models.TransitKeysListConfigCipher] = None, custody: Optional[models.TransitKeysListConfigCustody] = None, use: Optional[models.TransitKeysListConfigUse] = None, attention: Optional[bool] = None, timeout: Optional[float] = None) -> Iterator[models.TransitKeyState]:
        """List the state of every transit key. Follows the pages: entries come as they are read, `limit` at a

        time.

        What was configured and what came of it, in the order of names. `selector` picks entries by their
        labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many
        there are. What policies hide is absent. Of an entry whose record somebody changed past keystored, the
        list has `name` and `unreadable`, the reason.

        ``GET /v1/state/keystore/transit-keys``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/state/keystore/transit-keys",
                query={"after": after, "limit": limit, "selector": selector, "contains": contains, "cipher": cipher, "custody": custody, "use": use, "attention": attention},
                is_idempotent=True,
            ),
            models.TransitKeyState, timeout,
        )

    def list_config(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, contains: Optional[str] = None, cipher: Optional[models.TransitKeysListConfigCipher] = None, custody: Optional[models.TransitKeysListConfigCustody] = None, use: Optional[models.TransitKeysListConfigUse] = None, attention: Optional[bool] = None, timeout: Optional[float] = None) -> List[models.TransitKey]:
        """List every transit key.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/transit-keys``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/config/keystore/transit-keys",
                query={"after": after, "limit": limit, "selector": selector, "contains": contains, "cipher": cipher, "custody": custody, "use": use, "attention": attention},
                is_idempotent=True,
            ),
            List[models.TransitKey], timeout,
        )

    def list_config_each(self, *, after: Optional[str] = None, limit: Optional[int] = None, selector: Optional[str] = None, contains: Optional[str] = None, cipher: Optional[models.TransitKeysListConfigCipher] = None, custody: Optional[models.TransitKeysListConfigCustody] = None, use: Optional[models.TransitKeysListConfigUse] = None, attention: Optional[bool] = None, timeout: Optional[float] = None) -> Iterator[models.TransitKey]:
        """List every transit key. Follows the pages: entries come as they are read, `limit` at a time.

        What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
        answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
        policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
        and `unreadable`, the reason.

        ``GET /v1/config/keystore/transit-keys``
        """
        return self._sender.pages(
            Request(
                "GET",
                "/v1/config/keystore/transit-keys",
                query={"after": after, "limit": limit, "selector": selector, "contains": contains, "cipher": cipher, "custody": custody, "use": use, "attention": attention},
                is_idempotent=True,
            ),
            models.TransitKey, timeout,
        )

    def merge(self, name: str, body: models.TransitKeyMerge, *, validate: Optional[bool] = None, lists: Optional[models.TenantsMergeLists] = None, if_match: Optional[str] = None, timeout: Optional[float] = None) -> None:
        """Merge into a transit key.

        What is left out stays as it is. Containers are merged, lists united (those whose order matters are
        replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked
        and nothing stored.

        ``PATCH /v1/config/keystore/transit-keys/{name}``
        """
        return self._sender.nothing(
            Request(
                "PATCH",
                f"/v1/config/keystore/transit-keys/{segment(name)}",
                query={"validate": validate, "lists": lists},
                headers={"If-Match": if_match},
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def openpgp_sign(self, name: str, body: models.OpenpgpSignRequest, *, timeout: Optional[float] = None) -> models.OpenpgpSignAnswer:
        """Sign data with an OpenPGP key.

        Makes a detached OpenPGP signature that gpg, sq and package managers verify with the block of
        export-openpgp-public. The audit record names what was signed in `signed-digest`: `sha256:` and the
        SHA-256 of the text.

        ``POST /v1/state/keystore/transit-keys/{name}/openpgp-sign``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/openpgp-sign",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.OpenpgpSignAnswer, timeout,
        )

    def openpgp_verify(self, name: str, body: models.OpenpgpVerifyRequest, *, timeout: Optional[float] = None) -> models.OpenpgpVerifyAnswer:
        """Verify a detached OpenPGP signature.

        The version is found by the fingerprint in the signature. Of several signatures one good one suffices.
        Well-formed but not good is valid: false; unreadable is an error.

        ``POST /v1/state/keystore/transit-keys/{name}/openpgp-verify``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/openpgp-verify",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.OpenpgpVerifyAnswer, timeout,
        )

    def replace(self, name: str, body: models.TransitKeyReplacement, *, validate: Optional[bool] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None, timeout: Optional[float] = None) -> Optional[models.TransitKey]:
        """Create or replace a transit key.

        The whole document: what is left out returns to its default, but for fields that are set at creation
        only or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has
        the tag. With `validate=true` everything is checked and nothing stored.

        ``PUT /v1/config/keystore/transit-keys/{name}``
        """
        return self._sender.json_or_none(
            Request(
                "PUT",
                f"/v1/config/keystore/transit-keys/{segment(name)}",
                query={"validate": validate},
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.TransitKey, timeout,
        )

    def restore(self, name: str, body: models.RestoreRequest, *, timeout: Optional[float] = None) -> None:
        """Restore a key from a backup.

        The key keeps its name and labels and takes everything else from the backup; of material that this
        tenant has or had, the higher count of uses stays, and flags that were set once. Its versions are
        destroyed; therefore it must still be unused, or have `deletion-allowed`. Policies judge the settings
        in the backup as an `update` of the key, which must be allowed as well, and `execute` of `…/import`:
        the material is that of who made the backup.

        ``POST /v1/state/keystore/transit-keys/{name}/restore``
        """
        return self._sender.nothing(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/restore",
                body=to_wire(body),
                is_idempotent=False,
            ),
            timeout,
        )

    def rewrap(self, name: str, body: models.RewrapRequest, *, timeout: Optional[float] = None) -> models.RewrapAnswer:
        """Encrypt a ciphertext again under the newest version.

        The plaintext stays in the appliance: a caller who may rewrap need not be allowed to decrypt. For data
        that a rotation left under an old version.

        ``POST /v1/state/keystore/transit-keys/{name}/rewrap``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/rewrap",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.RewrapAnswer, timeout,
        )

    def rewrap_batch(self, name: str, body: models.RewrapBatchRequest, *, timeout: Optional[float] = None) -> models.RewrapBatchAnswer:
        """Encrypt a ciphertext again under the newest version: a batch.

        The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`.
        Policies that speak of `rewrap` decide about batches too. The status is 200 even when every request
        failed: `failed` says how many.

        ``POST /v1/state/keystore/transit-keys/{name}/rewrap-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/rewrap-batch",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.RewrapBatchAnswer, timeout,
        )

    def rotate(self, name: str, *, timeout: Optional[float] = None) -> None:
        """Make a new version.

        The new version encrypts and signs at once, or after `activate-after` of auto-rotate. Older versions
        go on decrypting and verifying until the rules of the key end them. The clock of auto-rotate starts
        again.

        ``POST /v1/state/keystore/transit-keys/{name}/rotate``
        """
        return self._sender.nothing(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/rotate",
                is_idempotent=False,
            ),
            timeout,
        )

    def show(self, name: str, *, timeout: Optional[float] = None) -> models.TransitKeyState:
        """Read the state of a transit key.

        What was configured and what came of it. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/state/keystore/transit-keys/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/transit-keys/{segment(name)}",
                is_idempotent=True,
            ),
            models.TransitKeyState, timeout,
        )

    def show_config(self, name: str, *, timeout: Optional[float] = None) -> models.TransitKey:
        """Read a transit key.

        What was configured, without secrets. With `fields` a part of it; what policies hide is absent.

        ``GET /v1/config/keystore/transit-keys/{name}``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/config/keystore/transit-keys/{segment(name)}",
                is_idempotent=True,
            ),
            models.TransitKey, timeout,
        )

    def sign(self, name: str, body: models.SignRequest, *, timeout: Optional[float] = None) -> models.SignAnswer:
        """Sign a text.

        The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text, or
        with `prehashed` the algorithm and the hash that was given; of a batch a list, one for each item.

        ``POST /v1/state/keystore/transit-keys/{name}/sign``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/sign",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.SignAnswer, timeout,
        )

    def sign_batch(self, name: str, body: models.SignBatchRequest, *, timeout: Optional[float] = None) -> models.SignBatchAnswer:
        """Sign a text: a batch.

        The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`.
        Policies that speak of `sign` decide about batches too. The status is 200 even when every request
        failed: `failed` says how many.

        ``POST /v1/state/keystore/transit-keys/{name}/sign-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/sign-batch",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.SignBatchAnswer, timeout,
        )

    def trim(self, name: str, body: models.TrimRequest, *, timeout: Optional[float] = None) -> None:
        """Remove old versions.

        Destroys key material for good: what only these versions can decrypt is lost. Versions older than the
        given one go; where they are gone already, nothing happens. While a newer version waits for
        `activate-after`, the one that encrypts and signs is not removed.

        ``POST /v1/state/keystore/transit-keys/{name}/trim``
        """
        return self._sender.nothing(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/trim",
                body=to_wire(body),
                is_idempotent=True,
            ),
            timeout,
        )

    def unbind_subkey(self, name: str, body: models.UnbindSubkeyRequest, *, timeout: Optional[float] = None) -> models.UnbindSubkeyAnswer:
        """Unbind a subkey from its primary key.

        The subkey becomes an ordinary transit key, which no longer keeps the primary key from being changed
        or deleted; no right to that key is needed. What it signed still verifies with the blocks that are out
        in the world: publish the revocations that are answered.

        ``POST /v1/state/keystore/transit-keys/{name}/unbind-subkey``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/unbind-subkey",
                body=to_wire(body),
                is_idempotent=False,
            ),
            models.UnbindSubkeyAnswer, timeout,
        )

    def verify(self, name: str, body: models.VerifyRequest, *, timeout: Optional[float] = None) -> models.VerifyAnswer:
        """Verify a signature or an HMAC.

        Takes what sign or hmac answered, and signatures made elsewhere with the same key. A wrong signature
        is an answer, not an error: `valid` is false.

        ``POST /v1/state/keystore/transit-keys/{name}/verify``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/verify",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.VerifyAnswer, timeout,
        )

    def verify_batch(self, name: str, body: models.VerifyBatchRequest, *, timeout: Optional[float] = None) -> models.VerifyBatchAnswer:
        """Verify a signature or an HMAC: a batch.

        The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`.
        Policies that speak of `verify` decide about batches too. The status is 200 even when every request
        failed: `failed` says how many.

        ``POST /v1/state/keystore/transit-keys/{name}/verify-batch``
        """
        return self._sender.json(
            Request(
                "POST",
                f"/v1/state/keystore/transit-keys/{segment(name)}/verify-batch",
                body=to_wire(body),
                is_idempotent=True,
            ),
            models.VerifyBatchAnswer, timeout,
        )


class TransitKeysCustodyOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, name: str, *, version: Optional[str] = None, timeout: Optional[float] = None) -> models.CustodyAnswer:
        """A signed statement about the custody of a key version.

        What the token says of the key now (attributes, serial number, firmware), how the version is kept,
        where its material is from, since when it may be exported, and its exports. Verifiable offline, with
        `keystorectl custody verify` or any JWS library.

        ``GET /v1/state/keystore/transit-keys/{name}/custody``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/transit-keys/{segment(name)}/custody",
                query={"version": version},
                is_idempotent=True,
            ),
            models.CustodyAnswer, timeout,
        )


class TransitKeysDistributionOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, name: str, *, version: Optional[str] = None, timeout: Optional[float] = None) -> models.KeyDistributionAnswer:
        """Which appliances and tokens hold a key version.

        Asks every appliance of the cluster: each opens the version in its own token and says whether it
        could. An appliance that has not answered after ten seconds, or is out, is named as such. Ask within
        `activate-after` of a rotation: the new version is not used before.

        ``GET /v1/state/keystore/transit-keys/{name}/distribution``
        """
        return self._sender.json(
            Request(
                "GET",
                f"/v1/state/keystore/transit-keys/{segment(name)}/distribution",
                query={"version": version},
                is_idempotent=True,
            ),
            models.KeyDistributionAnswer, timeout,
        )


class WrappingKeyOperations:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def show(self, *, timeout: Optional[float] = None) -> models.ImportWrappingKeyAnswer:
        """The public key of the tenant under which keys are wrapped for import.

        Each tenant has its own. Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by
        AES key wrap with padding of the material. For a key that takes one import alone:
        `import-wrapping-key` of the transit key.

        ``GET /v1/state/keystore/wrapping-key``
        """
        return self._sender.json(
            Request(
                "GET",
                "/v1/state/keystore/wrapping-key",
                is_idempotent=True,
            ),
            models.ImportWrappingKeyAnswer, timeout,
        )


class Operations:
    """Every operation of the API, grouped as in keystorectl."""

    def __init__(self, sender: Sender) -> None:
        self.activity = ActivityOperations(sender)
        self.approle = ApproleOperations(sender)
        self.approles = ApprolesOperations(sender)
        self.approles_secret_ids = ApprolesSecretIdsOperations(sender)
        self.attestation_keys = AttestationKeysOperations(sender)
        self.audit = AuditOperations(sender)
        self.backup_status = BackupStatusOperations(sender)
        self.ca = CaOperations(sender)
        self.ca_certificates = CaCertificatesOperations(sender)
        self.ca_custody = CaCustodyOperations(sender)
        self.cluster = ClusterOperations(sender)
        self.crypto_functions = CryptoFunctionsOperations(sender)
        self.findings = FindingsOperations(sender)
        self.health = HealthOperations(sender)
        self.hsm = HsmOperations(sender)
        self.image = ImageOperations(sender)
        self.keystore = KeystoreOperations(sender)
        self.logins = LoginsOperations(sender)
        self.metrics = MetricsOperations(sender)
        self.oidc = OidcOperations(sender)
        self.oidc_roles = OidcRolesOperations(sender)
        self.policies = PoliciesOperations(sender)
        self.policy = PolicyOperations(sender)
        self.shipping = ShippingOperations(sender)
        self.system = SystemOperations(sender)
        self.tenants = TenantsOperations(sender)
        self.token = TokenOperations(sender)
        self.tokens = TokensOperations(sender)
        self.topics = TopicsOperations(sender)
        self.transit_keys = TransitKeysOperations(sender)
        self.transit_keys_custody = TransitKeysCustodyOperations(sender)
        self.transit_keys_distribution = TransitKeysDistributionOperations(sender)
        self.wrapping_key = WrappingKeyOperations(sender)
