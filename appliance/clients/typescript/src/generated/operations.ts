// A class for each group of operations, a method for each operation. Made by `npm run clients`; do not edit.
import type * as Api from './types.ts';
import { segment, type CallOptions, type Sender } from '../sender.ts';

class ActivityOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * What the appliance did in the last hour.
   * Points of half a minute over all worker processes, kept while the daemon runs. For more than an hour, or several
   * appliances, Prometheus reads the metrics.
   * `GET /v1/state/system/activity`
   */
  show(options: CallOptions = {}): Promise<Api.ActivityAnswer> {
    return this.#sender.json<Api.ActivityAnswer>({ method: 'GET', path: '/v1/state/system/activity', isIdempotent: true }, options);
  }
}

class ApproleOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Log in as an approle.
   * Whatever is wrong with the credentials, the refusal is the same. After 10 failures in a minute for one role-id, or 60
   * from one address, further wrong ones are answered 429 until the minute is over; right ones log in, one secret-id 600
   * times a minute.
   * `POST /v1/approle-login`
   */
  login(body: Api.ApproleLoginRequest, options: CallOptions = {}): Promise<Api.ApproleLoginAnswer> {
    return this.#sender.json<Api.ApproleLoginAnswer>({ method: 'POST', path: '/v1/approle-login', body, isIdempotent: false, isPublic: true }, options);
  }
}

class ApprolesOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create an approle.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/keystore/authentication/approles`
   */
  create(body: Api.ApproleCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.Approle> {
    return this.#sender.json<Api.Approle>({ method: 'POST', path: '/v1/config/keystore/authentication/approles', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete an approle.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/keystore/authentication/approles/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * End a secret-id at once.
   * Named by `secret-id` or by `accessor`. Tokens that it was exchanged for go on working until they end.
   * `POST /v1/state/keystore/authentication/approles/{name}/disable-secret-id`
   */
  disableSecretId(name: string, body: Api.DisableSecretIdRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/authentication/approles/${segment(name)}/disable-secret-id`, body, isIdempotent: false }, options);
  }

  /**
   * Make a secret-id.
   * The secret-id is shown this once and kept as a hash. Together with the role-id it logs in (`/v1/approle-login`).
   * `POST /v1/state/keystore/authentication/approles/{name}/generate-secret-id`
   */
  generateSecretId(name: string, body: Api.GenerateSecretIdRequest = {}, options: CallOptions = {}): Promise<Api.GenerateSecretIdAnswer> {
    return this.#sender.json<Api.GenerateSecretIdAnswer>({ method: 'POST', path: `/v1/state/keystore/authentication/approles/${segment(name)}/generate-secret-id`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every approle.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/authentication/approles`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.ApproleState[]> {
    return this.#sender.json<Api.ApproleState[]>({ method: 'GET', path: '/v1/state/keystore/authentication/approles', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List the state of every approle. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/authentication/approles`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.ApproleState, void, undefined> {
    return this.#sender.pages<Api.ApproleState>({ method: 'GET', path: '/v1/state/keystore/authentication/approles', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every approle.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/authentication/approles`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.Approle[]> {
    return this.#sender.json<Api.Approle[]>({ method: 'GET', path: '/v1/config/keystore/authentication/approles', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every approle. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/authentication/approles`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.Approle, void, undefined> {
    return this.#sender.pages<Api.Approle>({ method: 'GET', path: '/v1/config/keystore/authentication/approles', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * Merge into an approle.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/keystore/authentication/approles/{name}`
   */
  merge(name: string, body: Api.ApproleMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace an approle.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/keystore/authentication/approles/{name}`
   */
  replace(name: string, body: Api.ApproleReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.Approle | undefined> {
    return this.#sender.json<Api.Approle | undefined>({ method: 'PUT', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of an approle.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/keystore/authentication/approles/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.ApproleState> {
    return this.#sender.json<Api.ApproleState>({ method: 'GET', path: `/v1/state/keystore/authentication/approles/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read an approle.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/keystore/authentication/approles/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.Approle> {
    return this.#sender.json<Api.Approle>({ method: 'GET', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, isIdempotent: true }, options);
  }
}

class ApprolesSecretIdsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * List the secret-ids of an approle by accessor.
   * Secret-ids that still work, without their values.
   * `GET /v1/state/keystore/authentication/approles/{name}/secret-ids`
   */
  list(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.SecretId[]> {
    return this.#sender.json<Api.SecretId[]>({ method: 'GET', path: `/v1/state/keystore/authentication/approles/${segment(name)}/secret-ids`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the secret-ids of an approle by accessor. Follows the pages: entries come as they are read, `limit` at a time.
   * Secret-ids that still work, without their values.
   * `GET /v1/state/keystore/authentication/approles/{name}/secret-ids`
   */
  listEach(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.SecretId, void, undefined> {
    return this.#sender.pages<Api.SecretId>({ method: 'GET', path: `/v1/state/keystore/authentication/approles/${segment(name)}/secret-ids`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }
}

class AttestationKeysOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The keys that verify custody statements.
   * A JWK Set (RFC 7517), without a token. Empty until the first statement. Keep a copy elsewhere, or the thumbprint: what
   * this address answers is as good as its TLS certificate.
   * `GET /v1/state/system/attestation-keys`
   */
  show(options: CallOptions = {}): Promise<Api.AttestationKeysAnswer> {
    return this.#sender.json<Api.AttestationKeysAnswer>({ method: 'GET', path: '/v1/state/system/attestation-keys', isIdempotent: true, isPublic: true }, options);
  }
}

class AuditOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Keys and signed heads of the audit trail.
   * Kept elsewhere, they show whether a copy of the trail is complete and authentic.
   * `GET /v1/state/system/audit`
   */
  show(options: CallOptions = {}): Promise<Api.AuditAnswer> {
    return this.#sender.json<Api.AuditAnswer>({ method: 'GET', path: '/v1/state/system/audit', isIdempotent: true }, options);
  }
}

class BackupStatusOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The backup that runs, with its progress, and how the scheduled ones went.
   * Times and sizes of the last backups to the targets of the configuration, and why the last one failed, if it did.
   * `GET /v1/state/system/backup-status`
   */
  show(options: CallOptions = {}): Promise<Api.BackupsAnswer> {
    return this.#sender.json<Api.BackupsAnswer>({ method: 'GET', path: '/v1/state/system/backup-status', isIdempotent: true }, options);
  }
}

class CaOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The status of a certificate (RFC 6960, RFC 5019).
   * Needs no token. The answer is signed by the key that issued the certificate; answers are kept and shared for some
   * time.
   * `POST /v1/ca/{tenant}/{ca}/ocsp`
   */
  askOcsp(tenant: string, ca: string, body: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'POST', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/ocsp`, octets: body, mediaType: 'application/ocsp-request', isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The same with the request in the path, base64 (RFC 6960 appendix A.1).
   * Needs no token. For clients and caches that ask by GET.
   * `GET /v1/ca/{tenant}/{ca}/ocsp/{request}`
   */
  askOcspByPath(tenant: string, ca: string, request: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/ocsp/${segment(request)}`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * Create a TLS CA.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/keystore/tls/ca`
   */
  create(body: Api.TlsCaCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.TlsCa> {
    return this.#sender.json<Api.TlsCa>({ method: 'POST', path: '/v1/config/keystore/tls/ca', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * A certification request for the CA's key, to be signed by a root outside.
   * For a CA that a root elsewhere signs: a key is made in the token, and import-cert takes in the certificate for it. The
   * present certificate works until then.
   * `POST /v1/state/keystore/tls/ca/{name}/csr`
   */
  csr(name: string, options: CallOptions = {}): Promise<Api.CaCsrAnswer> {
    return this.#sender.json<Api.CaCsrAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/csr`, isIdempotent: false }, options);
  }

  /**
   * Delete a TLS CA.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/keystore/tls/ca/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/tls/ca/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * The certificate of a CA, and its issuers up to the root.
   * Needs no token: relying parties and devices fetch it. In PEM, the certificate of the CA first.
   * `GET /v1/ca/{tenant}/{ca}/ca.pem`
   */
  downloadCertificates(tenant: string, ca: string, options: CallOptions = {}): Promise<string> {
    return this.#sender.text({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/ca.pem`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The revocation list of the newest key of a CA, DER.
   * Needs no token. Also of a deleted CA, until its last list ends.
   * `GET /v1/ca/{tenant}/{ca}/crl`
   */
  downloadCrl(tenant: string, ca: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/crl`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The revocation list of one key of a CA, DER: what its certificates point to.
   * Needs no token. A CA that was renewed has a list for each of its keys.
   * `GET /v1/ca/{tenant}/{ca}/crl/{version}`
   */
  downloadCrlOfVersion(tenant: string, ca: string, version: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/crl/${segment(version)}`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * Take in the CA's certificate signed outside, with its issuers up to the root.
   * The certificate must be for the key of the last request and lead to the root that is given with it.
   * `POST /v1/state/keystore/tls/ca/{name}/import-cert`
   */
  importCert(name: string, body: Api.CaImportCertRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/import-cert`, body, isIdempotent: false }, options);
  }

  /**
   * Revoke what a list of this CA that was kept says is revoked.
   * After a restore: the backup knows nothing of what was revoked after it was made. `crl` is a revocation list that this
   * CA published, as somebody kept it; its signature is verified, and dates and reasons are taken from it. `serials` are
   * serial numbers from elsewhere, and need `execute` of `…/revoke` as well. Certificates that were issued after the
   * backup are revoked too, although the CA does not know them.
   * `POST /v1/state/keystore/tls/ca/{name}/import-revocations`
   */
  importRevocations(name: string, body: Api.CaImportRevocationsRequest = {}, options: CallOptions = {}): Promise<Api.CaImportRevocationsAnswer> {
    return this.#sender.json<Api.CaImportRevocationsAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/import-revocations`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every TLS CA.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/tls/ca`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.TlsCaState[]> {
    return this.#sender.json<Api.TlsCaState[]>({ method: 'GET', path: '/v1/state/keystore/tls/ca', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List the state of every TLS CA. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/tls/ca`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.TlsCaState, void, undefined> {
    return this.#sender.pages<Api.TlsCaState>({ method: 'GET', path: '/v1/state/keystore/tls/ca', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every TLS CA.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/tls/ca`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.TlsCa[]> {
    return this.#sender.json<Api.TlsCa[]>({ method: 'GET', path: '/v1/config/keystore/tls/ca', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every TLS CA. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/tls/ca`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.TlsCa, void, undefined> {
    return this.#sender.pages<Api.TlsCa>({ method: 'GET', path: '/v1/config/keystore/tls/ca', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * Merge into a TLS CA.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/keystore/tls/ca/{name}`
   */
  merge(name: string, body: Api.TlsCaMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/tls/ca/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Give the CA a new key and certificate; a root also gets roll-over certificates.
   * Devices get certificates of the new key from now on. Those of the old one stay good until they end, and its revocation
   * list goes on being made.
   * `POST /v1/state/keystore/tls/ca/{name}/renew`
   */
  renew(name: string, options: CallOptions = {}): Promise<Api.CaRenewAnswer> {
    return this.#sender.json<Api.CaRenewAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/renew`, isIdempotent: false }, options);
  }

  /**
   * Create or replace a TLS CA.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/keystore/tls/ca/{name}`
   */
  replace(name: string, body: Api.TlsCaReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.TlsCa | undefined> {
    return this.#sender.json<Api.TlsCa | undefined>({ method: 'PUT', path: `/v1/config/keystore/tls/ca/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Revoke a certificate this CA issued.
   * For good. The next revocation list and OCSP say so at once; a device that shows the certificate is refused. What a
   * device renewed with it lives on: with `line`, all certificates end that renewals connect with it, those before it,
   * after it and beside it.
   * `POST /v1/state/keystore/tls/ca/{name}/revoke`
   */
  revoke(name: string, body: Api.CaRevokeRequest, options: CallOptions = {}): Promise<Api.CaRevokeAnswer> {
    return this.#sender.json<Api.CaRevokeAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/revoke`, body, isIdempotent: false }, options);
  }

  /**
   * Read the state of a TLS CA.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/keystore/tls/ca/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.TlsCaState> {
    return this.#sender.json<Api.TlsCaState>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a TLS CA.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/keystore/tls/ca/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.TlsCa> {
    return this.#sender.json<Api.TlsCa>({ method: 'GET', path: `/v1/config/keystore/tls/ca/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Issue a certificate for a certification request.
   * The names in the request must be allowed by the rules of `est`, and `ttl` is at most that of `est`, unless the
   * policies allow `execute` of `…/sign-freely` as well. The certificate is made from the request, never copied:
   * extensions that it asks for beyond its names are left out.
   * `POST /v1/state/keystore/tls/ca/{name}/sign-csr`
   */
  signCsr(name: string, body: Api.CaSignCsrRequest, options: CallOptions = {}): Promise<Api.CaSignCsrAnswer> {
    return this.#sender.json<Api.CaSignCsrAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/sign-csr`, body, isIdempotent: false }, options);
  }
}

class CaCertificatesOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Certificates this CA issued, by serial number.
   * All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000 an answer.
   * `GET /v1/state/keystore/tls/ca/{name}/certificates`
   */
  list(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined; contains?: string | undefined; status?: Api.CaCertificatesListStatus | undefined } = {}): Promise<Api.IssuedCertificate[]> {
    return this.#sender.json<Api.IssuedCertificate[]>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/certificates`, query: { after: options.after, limit: options.limit, contains: options.contains, status: options.status }, isIdempotent: true }, options);
  }

  /**
   * Certificates this CA issued, by serial number. Follows the pages: entries come as they are read, `limit` at a time.
   * All that it issued, revoked and expired ones too, without the certificates themselves. At most 1,000 an answer.
   * `GET /v1/state/keystore/tls/ca/{name}/certificates`
   */
  listEach(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined; contains?: string | undefined; status?: Api.CaCertificatesListStatus | undefined } = {}): AsyncGenerator<Api.IssuedCertificate, void, undefined> {
    return this.#sender.pages<Api.IssuedCertificate>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/certificates`, query: { after: options.after, limit: options.limit, contains: options.contains, status: options.status }, isIdempotent: true }, options);
  }

  /**
   * One certificate this CA issued.
   * With the certificate itself, which lists leave out.
   * `GET /v1/state/keystore/tls/ca/{name}/certificates/{serial}`
   */
  show(name: string, serial: string, options: CallOptions = {}): Promise<Api.IssuedCertificate> {
    return this.#sender.json<Api.IssuedCertificate>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/certificates/${segment(serial)}`, isIdempotent: true }, options);
  }
}

class CaCustodyOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * A signed statement about the custody of a CA key.
   * What the token says of the key now: attributes, serial number, firmware. CA keys are made in the token and cannot
   * leave it; where several tokens share their keys, they are wrapped. Verifiable offline, with `keystorectl custody
   * verify` or any JWS library.
   * `GET /v1/state/keystore/tls/ca/{name}/custody`
   */
  show(name: string, options: CallOptions & { generation?: string | undefined } = {}): Promise<Api.CaCustodyAnswer> {
    return this.#sender.json<Api.CaCustodyAnswer>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/custody`, query: { generation: options.generation }, isIdempotent: true }, options);
  }
}

class ClusterOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Admit the appliance that was invited.
   * Asked by an appliance that joins, with the secret of its invitation and no token. It gets certificates for its member
   * of etcd, and adds that itself. Asked again within the hour with the same keys, before the appliance has come in, it
   * gets others, and those before are revoked. Nobody else is the same: the requests prove their keys.
   * `POST /v1/state/system/cluster/admit`
   */
  admit(body: Api.ClusterAdmitRequest, options: CallOptions = {}): Promise<Api.ClusterAdmitAnswer> {
    return this.#sender.json<Api.ClusterAdmitAnswer>({ method: 'POST', path: '/v1/state/system/cluster/admit', body, isIdempotent: false, isPublic: true }, options);
  }

  /**
   * Give the token of the appliance that was invited the own keys of the others.
   * Asked by an appliance that joins a cluster with a token in each appliance, with the secret of its invitation and no
   * token of a user, again and again until the state is `ready`. The wrapping key is rotated for it: the next one is
   * carried to the token of every appliance, wrapped by RSA-OAEP, and every key is wrapped again under it.
   * `POST /v1/state/system/cluster/admit-token`
   */
  admitToken(body: Api.ClusterAdmitTokenRequest, options: CallOptions = {}): Promise<Api.ClusterAdmitTokenAnswer> {
    return this.#sender.json<Api.ClusterAdmitTokenAnswer>({ method: 'POST', path: '/v1/state/system/cluster/admit-token', body, isIdempotent: false, isPublic: true }, options);
  }

  /**
   * Make an appliance that stands alone the first of a cluster.
   * Nothing that it has is lost. Its configuration has the section `cluster` with `member`. The answer comes first; then
   * all processes are replaced, which takes a few seconds without an answer, and an attended appliance waits for its PIN.
   * `POST /v1/state/system/cluster/init`
   */
  init(body: Api.ClusterInitRequest = {}, options: CallOptions = {}): Promise<Api.ClusterInitAnswer> {
    return this.#sender.json<Api.ClusterInitAnswer>({ method: 'POST', path: '/v1/state/system/cluster/init', body, isIdempotent: false }, options);
  }

  /**
   * The invitations into the cluster.
   * Those of the last hour, without their secrets, and those by which an appliance was admitted that has not come in
   * since.
   * `GET /v1/state/system/cluster/invitations`
   */
  invitations(options: CallOptions = {}): Promise<Api.ClusterInvitationsAnswer> {
    return this.#sender.json<Api.ClusterInvitationsAnswer>({ method: 'GET', path: '/v1/state/system/cluster/invitations', isIdempotent: true }, options);
  }

  /**
   * Invite an appliance into the cluster.
   * The invitation has the address of this appliance, the fingerprint of its CA and a secret. It is good for one appliance
   * and one hour, and over as soon as that has come in; who has it can join, so carry it like a password.
   * `POST /v1/state/system/cluster/invite`
   */
  invite(body: Api.ClusterInviteRequest = {}, options: CallOptions = {}): Promise<Api.ClusterInviteAnswer> {
    return this.#sender.json<Api.ClusterInviteAnswer>({ method: 'POST', path: '/v1/state/system/cluster/invite', body, isIdempotent: false }, options);
  }

  /**
   * Join the cluster that has invited this appliance.
   * Of an appliance that stands alone and has nothing yet but a way to log in: who may claim it may let it join, with the
   * token of that login. Its configuration has the section `cluster` with `member`. The state of the cluster replaces its
   * own, with all tokens: its former audit trail is kept beside the new one. Whether the HSM opens the keys of the cluster
   * is proven first; what is refused leaves it as it was. With a token in each appliance, the own keys are carried into
   * its token first; `conflict` says how far that is after 40 seconds, and the same request goes on with it. The answer
   * comes first; then all processes are replaced, which takes seconds to minutes without an answer, and an attended
   * appliance waits for its PIN.
   * `POST /v1/state/system/cluster/join`
   */
  join(body: Api.ClusterJoinRequest, options: CallOptions = {}): Promise<Api.ClusterJoinAnswer> {
    return this.#sender.json<Api.ClusterJoinAnswer>({ method: 'POST', path: '/v1/state/system/cluster/join', body, isIdempotent: false }, options);
  }

  /**
   * Remove an appliance that is lost for ever from the cluster.
   * It never comes in again, and its name is given to no other. Health no longer misses it, the background jobs that it
   * ran go on elsewhere, and its audit trail counts as lost, on record. One that was only stopped, or has lost its disk,
   * is not removed: it comes back under its name. Ask any other appliance. Where the appliances run etcd, its member
   * leaves, its certificates are revoked and its connections end; an etcd of your own has to refuse its certificate.
   * `POST /v1/state/system/cluster/remove-member`
   */
  removeMember(body: Api.ClusterRemoveMemberRequest, options: CallOptions = {}): Promise<Api.ClusterRemoveMemberAnswer> {
    return this.#sender.json<Api.ClusterRemoveMemberAnswer>({ method: 'POST', path: '/v1/state/system/cluster/remove-member', body, isIdempotent: true }, options);
  }

  /**
   * The appliances that share the store.
   * As the answering appliance sees them. One that is cut off from the majority answers this from its last state to root
   * of the tenant `system`, says so by `cut-off`, and names in `warnings` which members of etcd it reaches.
   * `GET /v1/state/system/cluster`
   */
  show(options: CallOptions = {}): Promise<Api.ClusterAnswer> {
    return this.#sender.json<Api.ClusterAnswer>({ method: 'GET', path: '/v1/state/system/cluster', isIdempotent: true }, options);
  }

  /**
   * Withdraw an invitation into the cluster.
   * Nobody comes in by it any more. Of an appliance that was admitted by it and has not come in, the certificates are
   * revoked and its member of etcd leaves; one that has come in is removed with `remove-member`.
   * `POST /v1/state/system/cluster/withdraw-invitation`
   */
  withdrawInvitation(body: Api.ClusterWithdrawInvitationRequest, options: CallOptions = {}): Promise<Api.ClusterWithdrawInvitationAnswer> {
    return this.#sender.json<Api.ClusterWithdrawInvitationAnswer>({ method: 'POST', path: '/v1/state/system/cluster/withdraw-invitation', body, isIdempotent: false }, options);
  }
}

class CryptoFunctionsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Generate random bytes.
   * From the generator of the token, never from that of a process.
   * `POST /v1/state/keystore/crypto-functions/random-bytes`
   */
  randomBytes(body: Api.RandomBytesRequest = {}, options: CallOptions = {}): Promise<Api.RandomBytesAnswer> {
    return this.#sender.json<Api.RandomBytesAnswer>({ method: 'POST', path: '/v1/state/keystore/crypto-functions/random-bytes', body, isIdempotent: true }, options);
  }
}

class FindingsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Answer a finding: a person knows of it.
   * From then on it is no part of health. What is found with other numbers is one again.
   * `POST /v1/state/system/findings/{finding}/answer`
   */
  answer(finding: string, body: Api.AnswerFindingRequest = {}, options: CallOptions = {}): Promise<Api.AnswerFindingAnswer> {
    return this.#sender.json<Api.AnswerFindingAnswer>({ method: 'POST', path: `/v1/state/system/findings/${segment(finding)}/answer`, body, isIdempotent: true }, options);
  }

  /**
   * What a start or a background job has found, and who has answered it.
   * Of this appliance. What nobody has answered is a part of health.
   * `GET /v1/state/system/findings`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Finding[]> {
    return this.#sender.json<Api.Finding[]>({ method: 'GET', path: '/v1/state/system/findings', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * What a start or a background job has found, and who has answered it. Follows the pages: entries come as they are read,
   * `limit` at a time.
   * Of this appliance. What nobody has answered is a part of health.
   * `GET /v1/state/system/findings`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Finding, void, undefined> {
    return this.#sender.pages<Api.Finding>({ method: 'GET', path: '/v1/state/system/findings', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * One finding.
   * As in the list of all findings.
   * `GET /v1/state/system/findings/{finding}`
   */
  show(finding: string, options: CallOptions = {}): Promise<Api.FindingAnswer> {
    return this.#sender.json<Api.FindingAnswer>({ method: 'GET', path: `/v1/state/system/findings/${segment(finding)}`, isIdempotent: true }, options);
  }
}

class HealthOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Whether the appliance works.
   * The answer has the same form in both cases; the status is 503 while something is not well.
   * `GET /v1/state/system/health`
   */
  show(options: CallOptions = {}): Promise<Api.HealthAnswer> {
    return this.#sender.json<Api.HealthAnswer>({ method: 'GET', path: '/v1/state/system/health', isIdempotent: true, isPublic: true }, options);
  }
}

class HsmOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Tokens, mechanisms and latencies.
   * The configured PKCS#11 tokens as last seen by the answering worker. Latencies are in microseconds.
   * `GET /v1/state/system/hsm`
   */
  show(options: CallOptions = {}): Promise<Api.HsmAnswer> {
    return this.#sender.json<Api.HsmAnswer>({ method: 'GET', path: '/v1/state/system/hsm', isIdempotent: true }, options);
  }
}

class ImageOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The bootable image: version, slots, trial, last update.
   * An update is taken from a medium, when every key of the running version has signed it.
   * `GET /v1/state/system/image`
   */
  show(options: CallOptions = {}): Promise<Api.ImageAnswer> {
    return this.#sender.json<Api.ImageAnswer>({ method: 'GET', path: '/v1/state/system/image', isIdempotent: true }, options);
  }
}

class KeystoreOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Make a transit key from an OpenPGP public key block.
   * The new key verifies signatures (openpgp-verify by any signing key of the certificate, verify by the one in keys). It
   * never signs. Private keys go through import, as PEM.
   * `POST /v1/state/keystore/import-openpgp`
   */
  importOpenpgp(body: Api.ImportOpenpgpRequest, options: CallOptions = {}): Promise<Api.ImportOpenpgpAnswer> {
    return this.#sender.json<Api.ImportOpenpgpAnswer>({ method: 'POST', path: '/v1/state/keystore/import-openpgp', body, isIdempotent: false }, options);
  }
}

class LoginsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * End the own token, and with it its session.
   * The token ends at once, with the tokens that it made. A token that ended already is answered 401.
   * `POST /v1/logout`
   */
  logout(options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/logout', isIdempotent: false }, options);
  }
}

class MetricsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Metrics for Prometheus.
   * Text format 0.0.4. Counters are sums over all worker processes since the start; gauges are of those that answer within
   * two seconds.
   * `GET /v1/state/system/metrics`
   */
  show(options: CallOptions = {}): Promise<string> {
    return this.#sender.text({ method: 'GET', path: '/v1/state/system/metrics', isIdempotent: true }, options);
  }
}

class OidcOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create an OIDC service.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/keystore/authentication/oidc`
   */
  create(body: Api.OidcServiceCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.OidcService> {
    return this.#sender.json<Api.OidcService>({ method: 'POST', path: '/v1/config/keystore/authentication/oidc', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete an OIDC service.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/keystore/authentication/oidc/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * Say which roles claims match, and why not.
   * Takes `claims`, or as `login` the reference of a sign-in that failed within the last day. Refused where policies hide
   * what it tells of the service or of a role.
   * `POST /v1/state/keystore/authentication/oidc/{name}/explain`
   */
  explain(name: string, body: Api.OidcExplainRequest = {}, options: CallOptions = {}): Promise<Api.OidcExplainAnswer> {
    return this.#sender.json<Api.OidcExplainAnswer>({ method: 'POST', path: `/v1/state/keystore/authentication/oidc/${segment(name)}/explain`, body, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC service.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/authentication/oidc`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.OidcServiceState[]> {
    return this.#sender.json<Api.OidcServiceState[]>({ method: 'GET', path: '/v1/state/keystore/authentication/oidc', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC service. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/authentication/oidc`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.OidcServiceState, void, undefined> {
    return this.#sender.pages<Api.OidcServiceState>({ method: 'GET', path: '/v1/state/keystore/authentication/oidc', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC service.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/authentication/oidc`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.OidcService[]> {
    return this.#sender.json<Api.OidcService[]>({ method: 'GET', path: '/v1/config/keystore/authentication/oidc', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC service. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/authentication/oidc`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.OidcService, void, undefined> {
    return this.#sender.pages<Api.OidcService>({ method: 'GET', path: '/v1/config/keystore/authentication/oidc', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * Ask for a sign-in that a person finishes in a browser.
   * For programs without a browser: a person opens `login-url`, compares `user-code` and signs in; the program asks
   * /v1/oidc-login/poll with `poll-token` meanwhile.
   * `POST /v1/oidc-login`
   */
  login(body: Api.OidcLoginRequest, options: CallOptions = {}): Promise<Api.OidcLoginAnswer> {
    return this.#sender.json<Api.OidcLoginAnswer>({ method: 'POST', path: '/v1/oidc-login', body, isIdempotent: false, isPublic: true }, options);
  }

  /**
   * Fetch the token of a sign-in, once it is approved.
   * Until then 400 with `authorization-pending`; the member `error` carries the same in the spelling of RFC 8628.
   * `POST /v1/oidc-login/poll`
   */
  loginPoll(body: Api.OidcLoginPollRequest, options: CallOptions = {}): Promise<Api.OidcLoginPollAnswer> {
    return this.#sender.json<Api.OidcLoginPollAnswer>({ method: 'POST', path: '/v1/oidc-login/poll', body, isIdempotent: false, isPublic: true }, options);
  }

  /**
   * Merge into an OIDC service.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/keystore/authentication/oidc/{name}`
   */
  merge(name: string, body: Api.OidcServiceMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace an OIDC service.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/keystore/authentication/oidc/{name}`
   */
  replace(name: string, body: Api.OidcServiceReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.OidcService | undefined> {
    return this.#sender.json<Api.OidcService | undefined>({ method: 'PUT', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of an OIDC service.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/keystore/authentication/oidc/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.OidcServiceState> {
    return this.#sender.json<Api.OidcServiceState>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read an OIDC service.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/keystore/authentication/oidc/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.OidcService> {
    return this.#sender.json<Api.OidcService>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Check a provider without a login.
   * Always 200: faults are in `findings`, each with its fix. Refused where policies hide what it tells of the service.
   * `POST /v1/state/keystore/authentication/oidc/{name}/test`
   */
  test(name: string, body: Api.OidcTestRequest = {}, options: CallOptions = {}): Promise<Api.OidcTestAnswer> {
    return this.#sender.json<Api.OidcTestAnswer>({ method: 'POST', path: `/v1/state/keystore/authentication/oidc/${segment(name)}/test`, body, isIdempotent: true }, options);
  }
}

class OidcRolesOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create an OIDC role.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/keystore/authentication/oidc/{service}/roles`
   */
  create(service: string, body: Api.OidcRoleCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.OidcRole> {
    return this.#sender.json<Api.OidcRole>({ method: 'POST', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles`, query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete an OIDC role.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  delete(service: string, name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC role.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/authentication/oidc/{service}/roles`
   */
  list(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.OidcRoleState[]> {
    return this.#sender.json<Api.OidcRoleState[]>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC role. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/authentication/oidc/{service}/roles`
   */
  listEach(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.OidcRoleState, void, undefined> {
    return this.#sender.pages<Api.OidcRoleState>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC role.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/authentication/oidc/{service}/roles`
   */
  listConfig(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.OidcRole[]> {
    return this.#sender.json<Api.OidcRole[]>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC role. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/authentication/oidc/{service}/roles`
   */
  listConfigEach(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.OidcRole, void, undefined> {
    return this.#sender.pages<Api.OidcRole>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * Merge into an OIDC role.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  merge(service: string, name: string, body: Api.OidcRoleMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace an OIDC role.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  replace(service: string, name: string, body: Api.OidcRoleReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.OidcRole | undefined> {
    return this.#sender.json<Api.OidcRole | undefined>({ method: 'PUT', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of an OIDC role.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/keystore/authentication/oidc/{service}/roles/{name}`
   */
  show(service: string, name: string, options: CallOptions = {}): Promise<Api.OidcRoleState> {
    return this.#sender.json<Api.OidcRoleState>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read an OIDC role.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  showConfig(service: string, name: string, options: CallOptions = {}): Promise<Api.OidcRole> {
    return this.#sender.json<Api.OidcRole>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, isIdempotent: true }, options);
  }
}

class PoliciesOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create a policy.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/policy/policies`
   */
  create(body: Api.PolicyCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.PolicyWithWarnings> {
    return this.#sender.json<Api.PolicyWithWarnings>({ method: 'POST', path: '/v1/config/policy/policies', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete a policy.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/policy/policies/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/policy/policies/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * List the state of every policy.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/policy/policies`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.PolicyState[]> {
    return this.#sender.json<Api.PolicyState[]>({ method: 'GET', path: '/v1/state/policy/policies', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List the state of every policy. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/policy/policies`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.PolicyState, void, undefined> {
    return this.#sender.pages<Api.PolicyState>({ method: 'GET', path: '/v1/state/policy/policies', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every policy.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/policy/policies`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.Policy[]> {
    return this.#sender.json<Api.Policy[]>({ method: 'GET', path: '/v1/config/policy/policies', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every policy. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/policy/policies`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.Policy, void, undefined> {
    return this.#sender.pages<Api.Policy>({ method: 'GET', path: '/v1/config/policy/policies', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * Merge into a policy.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/policy/policies/{name}`
   */
  merge(name: string, body: Api.PolicyMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<Api.PolicyWithWarnings | undefined> {
    return this.#sender.json<Api.PolicyWithWarnings | undefined>({ method: 'PATCH', path: `/v1/config/policy/policies/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace a policy.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/policy/policies/{name}`
   */
  replace(name: string, body: Api.PolicyReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.PolicyWithWarnings | undefined> {
    return this.#sender.json<Api.PolicyWithWarnings | undefined>({ method: 'PUT', path: `/v1/config/policy/policies/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of a policy.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/policy/policies/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.PolicyState> {
    return this.#sender.json<Api.PolicyState>({ method: 'GET', path: `/v1/state/policy/policies/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a policy.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/policy/policies/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.Policy> {
    return this.#sender.json<Api.Policy>({ method: 'GET', path: `/v1/config/policy/policies/${segment(name)}`, isIdempotent: true }, options);
  }
}

class PolicyOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Ask what the policies say, without doing it.
   * The same decision as for a request, with the reason, for the own token, for another (`accessor`) or for `policies`.
   * Another token needs a rule that allows `read` of `/v1/state/keystore/tokens/<accessor>`; policies that are not those
   * of the own token need one for `read` of `/v1/state/policy/policies/<name>`. What depends on the content of a request
   * stays open: values that `restricted` speaks of, giving policies that one does not have, and names in fields
   * (`also-needs`), unless `names` says them.
   * `POST /v1/state/policy/check`
   */
  check(body: Api.PolicyCheckRequest, options: CallOptions = {}): Promise<Api.PolicyCheckAnswer> {
    return this.#sender.json<Api.PolicyCheckAnswer>({ method: 'POST', path: '/v1/state/policy/check', body, isIdempotent: true }, options);
  }

  /**
   * Ask what the policies say about up to 200 requests.
   * As `check`, for the own token, and allowed by the same rules.
   * `POST /v1/state/policy/check-many`
   */
  checkMany(body: Api.PolicyCheckManyRequest, options: CallOptions = {}): Promise<Api.PolicyCheckManyAnswer> {
    return this.#sender.json<Api.PolicyCheckManyAnswer>({ method: 'POST', path: '/v1/state/policy/check-many', body, isIdempotent: true }, options);
  }
}

class ShippingOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * State of every receiver of the audit trail and the logs.
   * Receivers are configured in the section `shipping` of the configuration.
   * `GET /v1/state/system/shipping`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Shipping[]> {
    return this.#sender.json<Api.Shipping[]>({ method: 'GET', path: '/v1/state/system/shipping', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * State of every receiver of the audit trail and the logs. Follows the pages: entries come as they are read, `limit` at
   * a time.
   * Receivers are configured in the section `shipping` of the configuration.
   * `GET /v1/state/system/shipping`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Shipping, void, undefined> {
    return this.#sender.pages<Api.Shipping>({ method: 'GET', path: '/v1/state/system/shipping', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * State of one receiver.
   * As in the list of all receivers.
   * `GET /v1/state/system/shipping/{destination}`
   */
  show(destination: string, options: CallOptions = {}): Promise<Api.ShippingAnswer> {
    return this.#sender.json<Api.ShippingAnswer>({ method: 'GET', path: `/v1/state/system/shipping/${segment(destination)}`, isIdempotent: true }, options);
  }

  /**
   * Send a test event to a receiver.
   * Always 200: whether the receiver took it, and what it said. The record is marked as a test and is in no audit trail.
   * `POST /v1/state/system/shipping/{destination}/test`
   */
  test(destination: string, body: Api.ShippingTestRequest = {}, options: CallOptions = {}): Promise<Api.ShippingTestAnswer> {
    return this.#sender.json<Api.ShippingTestAnswer>({ method: 'POST', path: `/v1/state/system/shipping/${segment(destination)}/test`, body, isIdempotent: false }, options);
  }
}

class SystemOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Accept the clock.
   * For a clock that was set back on purpose, or was wrongly in the future before: held work goes on.
   * `POST /v1/state/system/accept-clock`
   */
  acceptClock(options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/system/accept-clock', isIdempotent: false }, options);
  }

  /**
   * The CA certificates of this appliance, for callers that know only its address.
   * A caller that does not trust them yet compares the fingerprint with one from another source.
   * `GET /v1/ca/system/appliance/ca.pem`
   */
  applianceDownloadCaCertificates(options: CallOptions = {}): Promise<string> {
    return this.#sender.text({ method: 'GET', path: '/v1/ca/system/appliance/ca.pem', isIdempotent: true, isPublic: true }, options);
  }

  /**
   * Take an encrypted backup of the whole appliance.
   * The answer is an age file around a tar archive, encrypted under the passphrase or to the recipients. It is complete
   * only if it has the length that content-length says. Keep what opens it apart from it: nothing else does.
   * `POST /v1/state/system/backup`
   */
  backup(body: Api.SystemBackupRequest = {}, options: CallOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#sender.stream({ method: 'POST', path: '/v1/state/system/backup', body, isIdempotent: false }, options);
  }

  /**
   * Replace the user PIN of a token by a new random one.
   * For a token whose PIN the appliance chose itself and keeps in its own file, as that of the embedded token: nobody sees
   * the new one. Processes that run stay logged in.
   * `POST /v1/state/system/change-pin`
   */
  changePin(body: Api.ChangePinRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/system/change-pin', body, isIdempotent: false }, options);
  }

  /**
   * End all tokens and secret-ids that were made before the restore, and what such secret-ids gave since.
   * Those of all tenants, with what descends from them: some of them had ended or were used up after the backup, and
   * nobody knows which. So do the tokens of logins since with such a secret-id. The token of this request goes on, and
   * what else was made since. A tenant whose root token ends may be given one once more with `token/create-root`.
   * `POST /v1/state/system/end-credentials`
   */
  endCredentials(options: CallOptions = {}): Promise<Api.SystemEndCredentialsAnswer> {
    return this.#sender.json<Api.SystemEndCredentialsAnswer>({ method: 'POST', path: '/v1/state/system/end-credentials', isIdempotent: false }, options);
  }

  /**
   * Reboot, power off or reset the appliance.
   * A factory reset destroys every key of the embedded token, the store and the audit trail; keys in an HSM of your own
   * stay there.
   * `POST /v1/state/system/operate`
   */
  operate(body: Api.SystemOperateRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/system/operate', body, isIdempotent: false }, options);
  }

  /**
   * Take a backup to the recipients of the configuration.
   * As backup, for a caller that may fetch backups and open none: the recipients are those of the configuration, and it
   * cannot choose others. A policy that allows execute on this path alone is enough.
   * `POST /v1/state/system/pull-backup`
   */
  pullBackup(options: CallOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#sender.stream({ method: 'POST', path: '/v1/state/system/pull-backup', isIdempotent: false }, options);
  }

  /**
   * Replace the key that signs custody statements.
   * Another key is made in the token and the present one destroyed there, so that nothing is signed under it any more. Its
   * public key stays published.
   * `POST /v1/state/system/rotate-attestation-key`
   */
  rotateAttestationKey(options: CallOptions = {}): Promise<Api.RotateAttestationKeyAnswer> {
    return this.#sender.json<Api.RotateAttestationKeyAnswer>({ method: 'POST', path: '/v1/state/system/rotate-attestation-key', isIdempotent: false }, options);
  }

  /**
   * Rotate the key that wraps all others.
   * New keys are wrapped under the new one at once. Every stored key is rewrapped in the background, inside the token; the
   * old wrapping key is destroyed when nothing needs it. Progress is in the answer of `GET /v1/state/system/hsm`.
   * `POST /v1/state/system/rotate-wrapping-key`
   */
  rotateWrappingKey(body: Api.RotateWrappingKeyRequest = {}, options: CallOptions = {}): Promise<Api.RotateWrappingKeyAnswer> {
    return this.#sender.json<Api.RotateWrappingKeyAnswer>({ method: 'POST', path: '/v1/state/system/rotate-wrapping-key', body, isIdempotent: false }, options);
  }

  /**
   * Begin a backup to the targets of the configuration now.
   * Answered when it has begun; backup-status tells how far it is and how it went.
   * `POST /v1/state/system/run-backup`
   */
  runBackup(options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/system/run-backup', isIdempotent: false }, options);
  }

  /**
   * Seal the appliance until a person gives the PIN.
   * No new use of a key begins, running ones end, and the keys are removed from the memory of every process. Then the
   * request is answered, as the last one on its connection. A sealed appliance answers only health, its CA certificates
   * and unseal.
   * `POST /v1/state/keystore/system/seal`
   */
  seal(options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/keystore/system/seal', isIdempotent: false }, options);
  }

  /**
   * Test every token, and look at its objects.
   * A quick test of what the service needs always; `keystorectl hsm test` tries every operation. The attributes are read
   * from the token, not from the store.
   * `POST /v1/state/system/test-hsm`
   */
  testHsm(options: CallOptions = {}): Promise<Api.TestHsmAnswer> {
    return this.#sender.json<Api.TestHsmAnswer>({ method: 'POST', path: '/v1/state/system/test-hsm', isIdempotent: true }, options);
  }

  /**
   * Give the PIN of the tokens to a sealed appliance.
   * A PIN is looked at from those who give the unseal code of this seal, or are at the machine itself as root or the user
   * of the service. It is tried once. After a refused one the next attempt has to wait; after three the daemon must be
   * started again, because tokens lock themselves.
   * `POST /v1/state/keystore/system/unseal`
   */
  unseal(body: Api.SystemUnsealRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/keystore/system/unseal', body, isIdempotent: false, isPublic: true }, options);
  }
}

class TenantsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create a tenant.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/tenants`
   */
  create(body: Api.TenantCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.Tenant> {
    return this.#sender.json<Api.Tenant>({ method: 'POST', path: '/v1/config/tenants', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete a tenant.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/tenants/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/tenants/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * List the state of every tenant.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/tenants`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.TenantState[]> {
    return this.#sender.json<Api.TenantState[]>({ method: 'GET', path: '/v1/state/tenants', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List the state of every tenant. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/tenants`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.TenantState, void, undefined> {
    return this.#sender.pages<Api.TenantState>({ method: 'GET', path: '/v1/state/tenants', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every tenant.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/tenants`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): Promise<Api.Tenant[]> {
    return this.#sender.json<Api.Tenant[]>({ method: 'GET', path: '/v1/config/tenants', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * List every tenant. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/tenants`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined } = {}): AsyncGenerator<Api.Tenant, void, undefined> {
    return this.#sender.pages<Api.Tenant>({ method: 'GET', path: '/v1/config/tenants', query: { after: options.after, limit: options.limit, selector: options.selector }, isIdempotent: true }, options);
  }

  /**
   * Merge into a tenant.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/tenants/{name}`
   */
  merge(name: string, body: Api.TenantMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/tenants/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace a tenant.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/tenants/{name}`
   */
  replace(name: string, body: Api.TenantReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.Tenant | undefined> {
    return this.#sender.json<Api.Tenant | undefined>({ method: 'PUT', path: `/v1/config/tenants/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of a tenant.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/tenants/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.TenantState> {
    return this.#sender.json<Api.TenantState>({ method: 'GET', path: `/v1/state/tenants/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a tenant.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/tenants/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.Tenant> {
    return this.#sender.json<Api.Tenant>({ method: 'GET', path: `/v1/config/tenants/${segment(name)}`, isIdempotent: true }, options);
  }
}

class TokenOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Make a token with policies of the own one.
   * The new token is a child: it ends with the caller’s token and works only from where that one works. Its user stays the
   * caller’s.
   * `POST /v1/state/keystore/token/create`
   */
  create(body: Api.TokenCreateRequest = {}, options: CallOptions = {}): Promise<Api.TokenCreateAnswer> {
    return this.#sender.json<Api.TokenCreateAnswer>({ method: 'POST', path: '/v1/state/keystore/token/create', body, isIdempotent: false }, options);
  }

  /**
   * Make the root token of a tenant, once.
   * For the system tenant's root alone. The token is shown this once; a second call is refused with 409, whatever became
   * of the first token.
   * `POST /v1/state/keystore/token/create-root`
   */
  createRoot(body: Api.TokenCreateRootRequest, options: CallOptions = {}): Promise<Api.TokenCreateRootAnswer> {
    return this.#sender.json<Api.TokenCreateRootAnswer>({ method: 'POST', path: '/v1/state/keystore/token/create-root', body, isIdempotent: false }, options);
  }

  /**
   * End a token and its children at once.
   * The token is always named, the own one too: an empty request must not end a root token, which is made once.
   * `POST /v1/state/keystore/token/disable`
   */
  disable(body: Api.TokenDisableRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/keystore/token/disable', body, isIdempotent: false }, options);
  }

  /**
   * What a token is; without fields: the own one.
   * Named by `token` or by `accessor`. Another token than the own one needs a rule that allows `read` of
   * `/v1/state/keystore/tokens/<accessor>`.
   * `POST /v1/state/keystore/token/info`
   */
  info(body: Api.TokenInfoRequest = {}, options: CallOptions = {}): Promise<Api.TokenInfoAnswer> {
    return this.#sender.json<Api.TokenInfoAnswer>({ method: 'POST', path: '/v1/state/keystore/token/info', body, isIdempotent: true }, options);
  }

  /**
   * Give the own token a new expiry.
   * The value stays. The new expiry is now plus the smaller of `increment` and the token's ttl, never past its longest
   * life.
   * `POST /v1/state/keystore/token/refresh`
   */
  refresh(body: Api.TokenRefreshRequest = {}, options: CallOptions = {}): Promise<Api.TokenRefreshAnswer> {
    return this.#sender.json<Api.TokenRefreshAnswer>({ method: 'POST', path: '/v1/state/keystore/token/refresh', body, isIdempotent: true }, options);
  }
}

class TokensOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * List the tokens of the tenant by accessor.
   * Tokens that work, without their values. The accessor names a token where it is looked at or ended.
   * `GET /v1/state/keystore/tokens`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Token[]> {
    return this.#sender.json<Api.Token[]>({ method: 'GET', path: '/v1/state/keystore/tokens', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the tokens of the tenant by accessor. Follows the pages: entries come as they are read, `limit` at a time.
   * Tokens that work, without their values. The accessor names a token where it is looked at or ended.
   * `GET /v1/state/keystore/tokens`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Token, void, undefined> {
    return this.#sender.pages<Api.Token>({ method: 'GET', path: '/v1/state/keystore/tokens', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }
}

class TopicsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * List the topics one can read.
   * The audit trail for every tenant, and for the tenant `system` the log of the appliance.
   * `GET /v1/state/topics`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Topic[]> {
    return this.#sender.json<Api.Topic[]>({ method: 'GET', path: '/v1/state/topics', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the topics one can read. Follows the pages: entries come as they are read, `limit` at a time.
   * The audit trail for every tenant, and for the tenant `system` the log of the appliance.
   * `GET /v1/state/topics`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Topic, void, undefined> {
    return this.#sender.pages<Api.Topic>({ method: 'GET', path: '/v1/state/topics', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Read a topic as JSON lines.
   * Records in the order of time, one JSON object a line; without parameters all there are. A stream that follows ends
   * when the token does. What finds little is searched a part at a time: where an answer has a `Link`, it was not all, and
   * that is where to go on.
   * `GET /v1/state/topics/{topic}`
   */
  show(topic: string, options: CallOptions & { since?: string | undefined; before?: string | undefined; limit?: number | undefined; follow?: boolean | undefined; who?: string | undefined; what?: string | undefined; where?: string | undefined; result?: Api.TopicsShowResult | undefined; reads?: boolean | undefined } = {}): AsyncGenerator<unknown, void, undefined> {
    return this.#sender.lines({ method: 'GET', path: `/v1/state/topics/${segment(topic)}`, query: { since: options.since, before: options.before, limit: options.limit, follow: options.follow, who: options.who, what: options.what, where: options.where, result: options.result, reads: options.reads }, isIdempotent: true }, options);
  }
}

class TransitKeysOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Back up a key in clear.
   * One text that restore takes, with all versions and their material in clear: keep it like the key. The key must have
   * `allow-plaintext-backup`, which cannot be set back.
   * `POST /v1/state/keystore/transit-keys/{name}/backup`
   */
  backup(name: string, options: CallOptions = {}): Promise<Api.BackupAnswer> {
    return this.#sender.json<Api.BackupAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/backup`, isIdempotent: true }, options);
  }

  /**
   * Create a transit key.
   * Under the name in the body, which must be free. What is left out gets its default. With `validate=true` everything is
   * checked and nothing stored.
   * `POST /v1/config/keystore/transit-keys`
   */
  create(body: Api.TransitKeyCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.TransitKey> {
    return this.#sender.json<Api.TransitKey>({ method: 'POST', path: '/v1/config/keystore/transit-keys', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Create many transit keys.
   * 1 to 1,000 at once, each as if it were created alone, and each answered on its own, in order: with its document, or
   * with `code`. The status is 200 even when every one failed: `failed` says how many. When the whole is answered with an
   * error from 500 up, some may have been created: repeat the batch, and those answer `already-exists`. With
   * `validate=true` everything is checked and nothing stored.
   * `POST /v1/config/keystore/transit-keys-batch`
   */
  createBatch(body: Api.TransitKeysCreateBatchRequest, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.TransitKeysCreateBatchAnswer> {
    return this.#sender.json<Api.TransitKeysCreateBatchAnswer>({ method: 'POST', path: '/v1/config/keystore/transit-keys-batch', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Decrypt a ciphertext.
   * One answer for every reason why a ciphertext does not open: another key, another context, other associated data, or a
   * change of it.
   * `POST /v1/state/keystore/transit-keys/{name}/decrypt`
   */
  decrypt(name: string, body: Api.DecryptRequest, options: CallOptions = {}): Promise<Api.DecryptAnswer> {
    return this.#sender.json<Api.DecryptAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/decrypt`, body, isIdempotent: true }, options);
  }

  /**
   * Decrypt a ciphertext: a batch.
   * The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies that speak of
   * `decrypt` decide about batches too. The status is 200 even when every request failed: `failed` says how many.
   * `POST /v1/state/keystore/transit-keys/{name}/decrypt-batch`
   */
  decryptBatch(name: string, body: Api.DecryptBatchRequest, options: CallOptions = {}): Promise<Api.DecryptBatchAnswer> {
    return this.#sender.json<Api.DecryptBatchAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/decrypt-batch`, body, isIdempotent: true }, options);
  }

  /**
   * Delete a transit key.
   * For good, with what belongs to it; of a record that somebody changed past keystored, which root alone deletes,
   * without. With `validate=true` everything is checked and nothing stored.
   * `DELETE /v1/config/keystore/transit-keys/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/transit-keys/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * Encrypt a plaintext of up to 2 MiB.
   * The ciphertext names the version of the key, and decrypt finds it by that. A derived key needs `context`. A policy may
   * allow encryption without decryption.
   * `POST /v1/state/keystore/transit-keys/{name}/encrypt`
   */
  encrypt(name: string, body: Api.EncryptRequest, options: CallOptions = {}): Promise<Api.EncryptAnswer> {
    return this.#sender.json<Api.EncryptAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/encrypt`, body, isIdempotent: true }, options);
  }

  /**
   * Encrypt a plaintext of up to 2 MiB: a batch.
   * The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies that speak of
   * `encrypt` decide about batches too. The status is 200 even when every request failed: `failed` says how many.
   * `POST /v1/state/keystore/transit-keys/{name}/encrypt-batch`
   */
  encryptBatch(name: string, body: Api.EncryptBatchRequest, options: CallOptions = {}): Promise<Api.EncryptBatchAnswer> {
    return this.#sender.json<Api.EncryptBatchAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/encrypt-batch`, body, isIdempotent: true }, options);
  }

  /**
   * Export key material.
   * In clear, or wrapped under a public key of yours: AES key wrap with padding under RSA-OAEP. The key must be
   * `exportable`, which cannot be set back.
   * `POST /v1/state/keystore/transit-keys/{name}/export`
   */
  export(name: string, body: Api.ExportRequest = {}, options: CallOptions = {}): Promise<Api.ExportAnswer> {
    return this.#sender.json<Api.ExportAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export`, body, isIdempotent: true }, options);
  }

  /**
   * Export key material as OpenPGP private key blocks.
   * As export does, under the same policies: a rule for `export` decides about this too. The key must be `exportable`.
   * `POST /v1/state/keystore/transit-keys/{name}/export-openpgp`
   */
  exportOpenpgp(name: string, body: Api.ExportOpenpgpRequest = {}, options: CallOptions = {}): Promise<Api.ExportOpenpgpAnswer> {
    return this.#sender.json<Api.ExportOpenpgpAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export-openpgp`, body, isIdempotent: true }, options);
  }

  /**
   * Export the OpenPGP public key block.
   * Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it. With all-versions
   * and subkeys one block that verifies everything the primary key and its subkeys have signed. Needs no exportable.
   * `POST /v1/state/keystore/transit-keys/{name}/export-openpgp-public`
   */
  exportOpenpgpPublic(name: string, body: Api.ExportOpenpgpPublicRequest = {}, options: CallOptions = {}): Promise<Api.ExportOpenpgpPublicAnswer> {
    return this.#sender.json<Api.ExportOpenpgpPublicAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export-openpgp-public`, body, isIdempotent: true }, options);
  }

  /**
   * Make an OpenPGP revocation certificate.
   * Publishing it revokes the key for everybody; the key itself goes on working here. Of a subkey, its block with the
   * revocation in it. With the reasons superseded and retired earlier signatures stay good.
   * `POST /v1/state/keystore/transit-keys/{name}/export-openpgp-revocation`
   */
  exportOpenpgpRevocation(name: string, body: Api.ExportOpenpgpRevocationRequest = {}, options: CallOptions = {}): Promise<Api.ExportOpenpgpRevocationAnswer> {
    return this.#sender.json<Api.ExportOpenpgpRevocationAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export-openpgp-revocation`, body, isIdempotent: true }, options);
  }

  /**
   * Make a data key.
   * For data that is encrypted outside: keep the ciphertext beside it, and let decrypt open it again. With type `wrapped`
   * the data key itself is not answered.
   * `POST /v1/state/keystore/transit-keys/{name}/generate-data-key`
   */
  generateDataKey(name: string, body: Api.GenerateDataKeyRequest = {}, options: CallOptions = {}): Promise<Api.GenerateDataKeyAnswer> {
    return this.#sender.json<Api.GenerateDataKeyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/generate-data-key`, body, isIdempotent: true }, options);
  }

  /**
   * Calculate an HMAC; check it with verify.
   * Under a secret of its own in each version, which every kind of key has. The text is not encrypted; verify checks it.
   * `POST /v1/state/keystore/transit-keys/{name}/hmac`
   */
  hmac(name: string, body: Api.HmacRequest, options: CallOptions = {}): Promise<Api.HmacAnswer> {
    return this.#sender.json<Api.HmacAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/hmac`, body, isIdempotent: true }, options);
  }

  /**
   * Calculate an HMAC; check it with verify: a batch.
   * The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies that speak of
   * `hmac` decide about batches too. The status is 200 even when every request failed: `failed` says how many.
   * `POST /v1/state/keystore/transit-keys/{name}/hmac-batch`
   */
  hmacBatch(name: string, body: Api.HmacBatchRequest, options: CallOptions = {}): Promise<Api.HmacBatchAnswer> {
    return this.#sender.json<Api.HmacBatchAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/hmac-batch`, body, isIdempotent: true }, options);
  }

  /**
   * Import key material as a new version.
   * Material in clear as `data`, or wrapped as `ciphertext`, under the key of the tenant or under one that
   * `import-wrapping-key` made for this import. Type and size must be those of the key.
   * `POST /v1/state/keystore/transit-keys/{name}/import`
   */
  import(name: string, body: Api.ImportRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/import`, body, isIdempotent: false }, options);
  }

  /**
   * Make a wrapping key for one import into this key.
   * It opens one import into this transit key, named by `import-id`, and ends then or after `ttl`. Another one takes its
   * place. Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES key wrap with padding of the
   * material.
   * `POST /v1/state/keystore/transit-keys/{name}/import-wrapping-key`
   */
  importWrappingKey(name: string, body: Api.ImportWrappingKeyOfOneRequest = {}, options: CallOptions = {}): Promise<Api.ImportWrappingKeyOfOneAnswer> {
    return this.#sender.json<Api.ImportWrappingKeyOfOneAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/import-wrapping-key`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every transit key.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/transit-keys`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined; contains?: string | undefined; cipher?: Api.TransitKeysListConfigCipher | undefined; custody?: Api.TransitKeysListConfigCustody | undefined; use?: Api.TransitKeysListConfigUse | undefined; attention?: boolean | undefined } = {}): Promise<Api.TransitKeyState[]> {
    return this.#sender.json<Api.TransitKeyState[]>({ method: 'GET', path: '/v1/state/keystore/transit-keys', query: { after: options.after, limit: options.limit, selector: options.selector, contains: options.contains, cipher: options.cipher, custody: options.custody, use: options.use, attention: options.attention }, isIdempotent: true }, options);
  }

  /**
   * List the state of every transit key. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What
   * policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   * `GET /v1/state/keystore/transit-keys`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined; contains?: string | undefined; cipher?: Api.TransitKeysListConfigCipher | undefined; custody?: Api.TransitKeysListConfigCustody | undefined; use?: Api.TransitKeysListConfigUse | undefined; attention?: boolean | undefined } = {}): AsyncGenerator<Api.TransitKeyState, void, undefined> {
    return this.#sender.pages<Api.TransitKeyState>({ method: 'GET', path: '/v1/state/keystore/transit-keys', query: { after: options.after, limit: options.limit, selector: options.selector, contains: options.contains, cipher: options.cipher, custody: options.custody, use: options.use, attention: options.attention }, isIdempotent: true }, options);
  }

  /**
   * List every transit key.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/transit-keys`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined; contains?: string | undefined; cipher?: Api.TransitKeysListConfigCipher | undefined; custody?: Api.TransitKeysListConfigCustody | undefined; use?: Api.TransitKeysListConfigUse | undefined; attention?: boolean | undefined } = {}): Promise<Api.TransitKey[]> {
    return this.#sender.json<Api.TransitKey[]>({ method: 'GET', path: '/v1/config/keystore/transit-keys', query: { after: options.after, limit: options.limit, selector: options.selector, contains: options.contains, cipher: options.cipher, custody: options.custody, use: options.use, attention: options.attention }, isIdempotent: true }, options);
  }

  /**
   * List every transit key. Follows the pages: entries come as they are read, `limit` at a time.
   * What was configured, in the order of names. `selector` picks entries by their labels, `fields=name` answers the names
   * alone; `limit` and `after` page, and Total-Count says how many there are. What policies hide is absent. Of an entry
   * whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.
   * `GET /v1/config/keystore/transit-keys`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined; selector?: string | undefined; contains?: string | undefined; cipher?: Api.TransitKeysListConfigCipher | undefined; custody?: Api.TransitKeysListConfigCustody | undefined; use?: Api.TransitKeysListConfigUse | undefined; attention?: boolean | undefined } = {}): AsyncGenerator<Api.TransitKey, void, undefined> {
    return this.#sender.pages<Api.TransitKey>({ method: 'GET', path: '/v1/config/keystore/transit-keys', query: { after: options.after, limit: options.limit, selector: options.selector, contains: options.contains, cipher: options.cipher, custody: options.custody, use: options.use, attention: options.attention }, isIdempotent: true }, options);
  }

  /**
   * Merge into a transit key.
   * What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other
   * values replaced; null removes (RFC 7396). With `validate=true` everything is checked and nothing stored.
   * `PATCH /v1/config/keystore/transit-keys/{name}`
   */
  merge(name: string, body: Api.TransitKeyMerge, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/transit-keys/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Sign data with an OpenPGP key.
   * Makes a detached OpenPGP signature that gpg, sq and package managers verify with the block of export-openpgp-public.
   * The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text.
   * `POST /v1/state/keystore/transit-keys/{name}/openpgp-sign`
   */
  openpgpSign(name: string, body: Api.OpenpgpSignRequest, options: CallOptions = {}): Promise<Api.OpenpgpSignAnswer> {
    return this.#sender.json<Api.OpenpgpSignAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/openpgp-sign`, body, isIdempotent: true }, options);
  }

  /**
   * Verify a detached OpenPGP signature.
   * The version is found by the fingerprint in the signature. Of several signatures one good one suffices. Well-formed but
   * not good is valid: false; unreadable is an error.
   * `POST /v1/state/keystore/transit-keys/{name}/openpgp-verify`
   */
  openpgpVerify(name: string, body: Api.OpenpgpVerifyRequest, options: CallOptions = {}): Promise<Api.OpenpgpVerifyAnswer> {
    return this.#sender.json<Api.OpenpgpVerifyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/openpgp-verify`, body, isIdempotent: true }, options);
  }

  /**
   * Create or replace a transit key.
   * The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be
   * set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag. With `validate=true`
   * everything is checked and nothing stored.
   * `PUT /v1/config/keystore/transit-keys/{name}`
   */
  replace(name: string, body: Api.TransitKeyReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.TransitKey | undefined> {
    return this.#sender.json<Api.TransitKey | undefined>({ method: 'PUT', path: `/v1/config/keystore/transit-keys/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Restore a key from a backup.
   * The key keeps its name and labels and takes everything else from the backup; of material that this tenant has or had,
   * the higher count of uses stays, and flags that were set once. Its versions are destroyed; therefore it must still be
   * unused, or have `deletion-allowed`. Policies judge the settings in the backup as an `update` of the key, which must be
   * allowed as well, and `execute` of `…/import`: the material is that of who made the backup.
   * `POST /v1/state/keystore/transit-keys/{name}/restore`
   */
  restore(name: string, body: Api.RestoreRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/restore`, body, isIdempotent: false }, options);
  }

  /**
   * Encrypt a ciphertext again under the newest version.
   * The plaintext stays in the appliance: a caller who may rewrap need not be allowed to decrypt. For data that a rotation
   * left under an old version.
   * `POST /v1/state/keystore/transit-keys/{name}/rewrap`
   */
  rewrap(name: string, body: Api.RewrapRequest, options: CallOptions = {}): Promise<Api.RewrapAnswer> {
    return this.#sender.json<Api.RewrapAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/rewrap`, body, isIdempotent: true }, options);
  }

  /**
   * Encrypt a ciphertext again under the newest version: a batch.
   * The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies that speak of
   * `rewrap` decide about batches too. The status is 200 even when every request failed: `failed` says how many.
   * `POST /v1/state/keystore/transit-keys/{name}/rewrap-batch`
   */
  rewrapBatch(name: string, body: Api.RewrapBatchRequest, options: CallOptions = {}): Promise<Api.RewrapBatchAnswer> {
    return this.#sender.json<Api.RewrapBatchAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/rewrap-batch`, body, isIdempotent: true }, options);
  }

  /**
   * Make a new version.
   * The new version encrypts and signs at once, or after `activate-after` of auto-rotate. Older versions go on decrypting
   * and verifying until the rules of the key end them. The clock of auto-rotate starts again.
   * `POST /v1/state/keystore/transit-keys/{name}/rotate`
   */
  rotate(name: string, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/rotate`, isIdempotent: false }, options);
  }

  /**
   * Read the state of a transit key.
   * What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/state/keystore/transit-keys/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.TransitKeyState> {
    return this.#sender.json<Api.TransitKeyState>({ method: 'GET', path: `/v1/state/keystore/transit-keys/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a transit key.
   * What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   * `GET /v1/config/keystore/transit-keys/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.TransitKey> {
    return this.#sender.json<Api.TransitKey>({ method: 'GET', path: `/v1/config/keystore/transit-keys/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Sign a text.
   * The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text, or with `prehashed`
   * the algorithm and the hash that was given; of a batch a list, one for each item.
   * `POST /v1/state/keystore/transit-keys/{name}/sign`
   */
  sign(name: string, body: Api.SignRequest, options: CallOptions = {}): Promise<Api.SignAnswer> {
    return this.#sender.json<Api.SignAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/sign`, body, isIdempotent: true }, options);
  }

  /**
   * Sign a text: a batch.
   * The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies that speak of
   * `sign` decide about batches too. The status is 200 even when every request failed: `failed` says how many.
   * `POST /v1/state/keystore/transit-keys/{name}/sign-batch`
   */
  signBatch(name: string, body: Api.SignBatchRequest, options: CallOptions = {}): Promise<Api.SignBatchAnswer> {
    return this.#sender.json<Api.SignBatchAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/sign-batch`, body, isIdempotent: true }, options);
  }

  /**
   * Remove old versions.
   * Destroys key material for good: what only these versions can decrypt is lost. Versions older than the given one go;
   * where they are gone already, nothing happens. While a newer version waits for `activate-after`, the one that encrypts
   * and signs is not removed.
   * `POST /v1/state/keystore/transit-keys/{name}/trim`
   */
  trim(name: string, body: Api.TrimRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/trim`, body, isIdempotent: true }, options);
  }

  /**
   * Unbind a subkey from its primary key.
   * The subkey becomes an ordinary transit key, which no longer keeps the primary key from being changed or deleted; no
   * right to that key is needed. What it signed still verifies with the blocks that are out in the world: publish the
   * revocations that are answered.
   * `POST /v1/state/keystore/transit-keys/{name}/unbind-subkey`
   */
  unbindSubkey(name: string, body: Api.UnbindSubkeyRequest, options: CallOptions = {}): Promise<Api.UnbindSubkeyAnswer> {
    return this.#sender.json<Api.UnbindSubkeyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/unbind-subkey`, body, isIdempotent: false }, options);
  }

  /**
   * Verify a signature or an HMAC.
   * Takes what sign or hmac answered, and signatures made elsewhere with the same key. A wrong signature is an answer, not
   * an error: `valid` is false.
   * `POST /v1/state/keystore/transit-keys/{name}/verify`
   */
  verify(name: string, body: Api.VerifyRequest, options: CallOptions = {}): Promise<Api.VerifyAnswer> {
    return this.#sender.json<Api.VerifyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/verify`, body, isIdempotent: true }, options);
  }

  /**
   * Verify a signature or an HMAC: a batch.
   * The same for 1 to 1,000 requests, each answered on its own, in order; a failed one has `code`. Policies that speak of
   * `verify` decide about batches too. The status is 200 even when every request failed: `failed` says how many.
   * `POST /v1/state/keystore/transit-keys/{name}/verify-batch`
   */
  verifyBatch(name: string, body: Api.VerifyBatchRequest, options: CallOptions = {}): Promise<Api.VerifyBatchAnswer> {
    return this.#sender.json<Api.VerifyBatchAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/verify-batch`, body, isIdempotent: true }, options);
  }
}

class TransitKeysCustodyOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * A signed statement about the custody of a key version.
   * What the token says of the key now (attributes, serial number, firmware), how the version is kept, where its material
   * is from, since when it may be exported, and its exports. Verifiable offline, with `keystorectl custody verify` or any
   * JWS library.
   * `GET /v1/state/keystore/transit-keys/{name}/custody`
   */
  show(name: string, options: CallOptions & { version?: string | undefined } = {}): Promise<Api.CustodyAnswer> {
    return this.#sender.json<Api.CustodyAnswer>({ method: 'GET', path: `/v1/state/keystore/transit-keys/${segment(name)}/custody`, query: { version: options.version }, isIdempotent: true }, options);
  }
}

class TransitKeysDistributionOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Which appliances and tokens hold a key version.
   * Asks every appliance of the cluster: each opens the version in its own token and says whether it could. An appliance
   * that has not answered after ten seconds, or is out, is named as such. Ask within `activate-after` of a rotation: the
   * new version is not used before.
   * `GET /v1/state/keystore/transit-keys/{name}/distribution`
   */
  show(name: string, options: CallOptions & { version?: string | undefined } = {}): Promise<Api.KeyDistributionAnswer> {
    return this.#sender.json<Api.KeyDistributionAnswer>({ method: 'GET', path: `/v1/state/keystore/transit-keys/${segment(name)}/distribution`, query: { version: options.version }, isIdempotent: true }, options);
  }
}

class WrappingKeyOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The public key of the tenant under which keys are wrapped for import.
   * Each tenant has its own. Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES key wrap
   * with padding of the material. For a key that takes one import alone: `import-wrapping-key` of the transit key.
   * `GET /v1/state/keystore/wrapping-key`
   */
  show(options: CallOptions = {}): Promise<Api.ImportWrappingKeyAnswer> {
    return this.#sender.json<Api.ImportWrappingKeyAnswer>({ method: 'GET', path: '/v1/state/keystore/wrapping-key', isIdempotent: true }, options);
  }
}

/** Every operation of the API, grouped as in keystorectl. */
export class Operations {
  readonly activity: ActivityOperations;
  readonly approle: ApproleOperations;
  readonly approles: ApprolesOperations;
  readonly approlesSecretIds: ApprolesSecretIdsOperations;
  readonly attestationKeys: AttestationKeysOperations;
  readonly audit: AuditOperations;
  readonly backupStatus: BackupStatusOperations;
  readonly ca: CaOperations;
  readonly caCertificates: CaCertificatesOperations;
  readonly caCustody: CaCustodyOperations;
  readonly cluster: ClusterOperations;
  readonly cryptoFunctions: CryptoFunctionsOperations;
  readonly findings: FindingsOperations;
  readonly health: HealthOperations;
  readonly hsm: HsmOperations;
  readonly image: ImageOperations;
  readonly keystore: KeystoreOperations;
  readonly logins: LoginsOperations;
  readonly metrics: MetricsOperations;
  readonly oidc: OidcOperations;
  readonly oidcRoles: OidcRolesOperations;
  readonly policies: PoliciesOperations;
  readonly policy: PolicyOperations;
  readonly shipping: ShippingOperations;
  readonly system: SystemOperations;
  readonly tenants: TenantsOperations;
  readonly token: TokenOperations;
  readonly tokens: TokensOperations;
  readonly topics: TopicsOperations;
  readonly transitKeys: TransitKeysOperations;
  readonly transitKeysCustody: TransitKeysCustodyOperations;
  readonly transitKeysDistribution: TransitKeysDistributionOperations;
  readonly wrappingKey: WrappingKeyOperations;

  constructor(sender: Sender) {
    this.activity = new ActivityOperations(sender);
    this.approle = new ApproleOperations(sender);
    this.approles = new ApprolesOperations(sender);
    this.approlesSecretIds = new ApprolesSecretIdsOperations(sender);
    this.attestationKeys = new AttestationKeysOperations(sender);
    this.audit = new AuditOperations(sender);
    this.backupStatus = new BackupStatusOperations(sender);
    this.ca = new CaOperations(sender);
    this.caCertificates = new CaCertificatesOperations(sender);
    this.caCustody = new CaCustodyOperations(sender);
    this.cluster = new ClusterOperations(sender);
    this.cryptoFunctions = new CryptoFunctionsOperations(sender);
    this.findings = new FindingsOperations(sender);
    this.health = new HealthOperations(sender);
    this.hsm = new HsmOperations(sender);
    this.image = new ImageOperations(sender);
    this.keystore = new KeystoreOperations(sender);
    this.logins = new LoginsOperations(sender);
    this.metrics = new MetricsOperations(sender);
    this.oidc = new OidcOperations(sender);
    this.oidcRoles = new OidcRolesOperations(sender);
    this.policies = new PoliciesOperations(sender);
    this.policy = new PolicyOperations(sender);
    this.shipping = new ShippingOperations(sender);
    this.system = new SystemOperations(sender);
    this.tenants = new TenantsOperations(sender);
    this.token = new TokenOperations(sender);
    this.tokens = new TokensOperations(sender);
    this.topics = new TopicsOperations(sender);
    this.transitKeys = new TransitKeysOperations(sender);
    this.transitKeysCustody = new TransitKeysCustodyOperations(sender);
    this.transitKeysDistribution = new TransitKeysDistributionOperations(sender);
    this.wrappingKey = new WrappingKeyOperations(sender);
  }
}
