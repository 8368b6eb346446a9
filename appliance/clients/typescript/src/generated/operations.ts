// A class for each group of operations, a method for each operation. Made by `npm run clients`; do not edit.
import type * as Api from './types.ts';
import { segment, type CallOptions, type Sender } from '../sender.ts';

class ApproleOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Log in as an approle.
   * Whatever is wrong with the credentials, the refusal is the same. After 10 failures in a minute for one role-id, or 60
   * from one address, every attempt is refused until the minute is over.
   * `POST /v1/approle-login`
   */
  login(body: Api.ApproleLoginRequest, options: CallOptions = {}): Promise<Api.TokenCreateAnswer> {
    return this.#sender.json<Api.TokenCreateAnswer>({ method: 'POST', path: '/v1/approle-login', body, isIdempotent: false, isPublic: true }, options);
  }
}

class ApprolesOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create an approle.
   * `POST /v1/config/keystore/authentication/approles`
   */
  create(body: Api.ApproleCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.Approle> {
    return this.#sender.json<Api.Approle>({ method: 'POST', path: '/v1/config/keystore/authentication/approles', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete an approle.
   * `DELETE /v1/config/keystore/authentication/approles/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * End a secret-id at once.
   * `POST /v1/state/keystore/authentication/approles/{name}/disable-secret-id`
   */
  disableSecretId(name: string, body: Api.ApprolesDisableSecretIdRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/authentication/approles/${segment(name)}/disable-secret-id`, body, isIdempotent: false }, options);
  }

  /**
   * Make a secret-id.
   * The secret-id is shown this once and kept as a hash. Together with the role-id it logs in (`/v1/approle-login`).
   * `POST /v1/state/keystore/authentication/approles/{name}/generate-secret-id`
   */
  generateSecretId(name: string, body: Api.ApprolesGenerateSecretIdRequest = {}, options: CallOptions = {}): Promise<Api.ApprolesGenerateSecretIdAnswer> {
    return this.#sender.json<Api.ApprolesGenerateSecretIdAnswer>({ method: 'POST', path: `/v1/state/keystore/authentication/approles/${segment(name)}/generate-secret-id`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every approle.
   * `GET /v1/state/keystore/authentication/approles`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.ApproleState[]> {
    return this.#sender.json<Api.ApproleState[]>({ method: 'GET', path: '/v1/state/keystore/authentication/approles', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every approle. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/authentication/approles`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.ApproleState, void, undefined> {
    return this.#sender.pages<Api.ApproleState>({ method: 'GET', path: '/v1/state/keystore/authentication/approles', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every approle.
   * `GET /v1/config/keystore/authentication/approles`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Approle[]> {
    return this.#sender.json<Api.Approle[]>({ method: 'GET', path: '/v1/config/keystore/authentication/approles', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every approle. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/keystore/authentication/approles`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Approle, void, undefined> {
    return this.#sender.pages<Api.Approle>({ method: 'GET', path: '/v1/config/keystore/authentication/approles', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Merge into an approle.
   * `PATCH /v1/config/keystore/authentication/approles/{name}`
   */
  merge(name: string, body: Api.ApproleMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace an approle.
   * `PUT /v1/config/keystore/authentication/approles/{name}`
   */
  replace(name: string, body: Api.ApproleReplacement = {}, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.Approle | undefined> {
    return this.#sender.json<Api.Approle | undefined>({ method: 'PUT', path: `/v1/config/keystore/authentication/approles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of an approle.
   * `GET /v1/state/keystore/authentication/approles/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.ApproleState> {
    return this.#sender.json<Api.ApproleState>({ method: 'GET', path: `/v1/state/keystore/authentication/approles/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read an approle.
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
   * `GET /v1/state/keystore/authentication/approles/{name}/secret-ids`
   */
  list(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.ApprolesSecretIdsListAnswerItem[]> {
    return this.#sender.json<Api.ApprolesSecretIdsListAnswerItem[]>({ method: 'GET', path: `/v1/state/keystore/authentication/approles/${segment(name)}/secret-ids`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the secret-ids of an approle by accessor. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/authentication/approles/{name}/secret-ids`
   */
  listEach(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.ApprolesSecretIdsListAnswerItem, void, undefined> {
    return this.#sender.pages<Api.ApprolesSecretIdsListAnswerItem>({ method: 'GET', path: `/v1/state/keystore/authentication/approles/${segment(name)}/secret-ids`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
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
  show(options: CallOptions = {}): Promise<Api.AuditShowAnswer> {
    return this.#sender.json<Api.AuditShowAnswer>({ method: 'GET', path: '/v1/state/system/audit', isIdempotent: true }, options);
  }
}

class BackupStatusOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The backup that runs, with its progress, and how the scheduled ones went.
   * `GET /v1/state/system/backup-status`
   */
  show(options: CallOptions = {}): Promise<Api.BackupStatusShowAnswer> {
    return this.#sender.json<Api.BackupStatusShowAnswer>({ method: 'GET', path: '/v1/state/system/backup-status', isIdempotent: true }, options);
  }
}

class CaOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create a TLS CA.
   * `POST /v1/config/keystore/tls/ca`
   */
  create(body: Api.TlscaCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.Tlsca> {
    return this.#sender.json<Api.Tlsca>({ method: 'POST', path: '/v1/config/keystore/tls/ca', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * A certification request for the CA's key, to be signed by a root outside.
   * `POST /v1/state/keystore/tls/ca/{name}/csr`
   */
  csr(name: string, options: CallOptions = {}): Promise<Api.CaCsrAnswer> {
    return this.#sender.json<Api.CaCsrAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/csr`, isIdempotent: false }, options);
  }

  /**
   * Delete a TLS CA.
   * `DELETE /v1/config/keystore/tls/ca/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/tls/ca/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * Take in the CA's certificate signed outside, with its issuers up to the root.
   * `POST /v1/state/keystore/tls/ca/{name}/import-cert`
   */
  importCert(name: string, body: Api.CaImportCertRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/import-cert`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every TLS CA.
   * `GET /v1/state/keystore/tls/ca`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.TlscaState[]> {
    return this.#sender.json<Api.TlscaState[]>({ method: 'GET', path: '/v1/state/keystore/tls/ca', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every TLS CA. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/tls/ca`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.TlscaState, void, undefined> {
    return this.#sender.pages<Api.TlscaState>({ method: 'GET', path: '/v1/state/keystore/tls/ca', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every TLS CA.
   * `GET /v1/config/keystore/tls/ca`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Tlsca[]> {
    return this.#sender.json<Api.Tlsca[]>({ method: 'GET', path: '/v1/config/keystore/tls/ca', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every TLS CA. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/keystore/tls/ca`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Tlsca, void, undefined> {
    return this.#sender.pages<Api.Tlsca>({ method: 'GET', path: '/v1/config/keystore/tls/ca', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Merge into a TLS CA.
   * `PATCH /v1/config/keystore/tls/ca/{name}`
   */
  merge(name: string, body: Api.TlscaMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/tls/ca/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Give the CA a new key and certificate; a root also gets roll-over certificates.
   * `POST /v1/state/keystore/tls/ca/{name}/renew`
   */
  renew(name: string, options: CallOptions = {}): Promise<Api.CaRenewAnswer> {
    return this.#sender.json<Api.CaRenewAnswer>({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/renew`, isIdempotent: false }, options);
  }

  /**
   * Create or replace a TLS CA.
   * `PUT /v1/config/keystore/tls/ca/{name}`
   */
  replace(name: string, body: Api.TlscaReplacement = {}, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.Tlsca | undefined> {
    return this.#sender.json<Api.Tlsca | undefined>({ method: 'PUT', path: `/v1/config/keystore/tls/ca/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Revoke a certificate this CA issued.
   * `POST /v1/state/keystore/tls/ca/{name}/revoke`
   */
  revoke(name: string, body: Api.CaRevokeRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/tls/ca/${segment(name)}/revoke`, body, isIdempotent: false }, options);
  }

  /**
   * Read the state of a TLS CA.
   * `GET /v1/state/keystore/tls/ca/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.TlscaState> {
    return this.#sender.json<Api.TlscaState>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a TLS CA.
   * `GET /v1/config/keystore/tls/ca/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.Tlsca> {
    return this.#sender.json<Api.Tlsca>({ method: 'GET', path: `/v1/config/keystore/tls/ca/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Issue a certificate for a certification request.
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
   * `GET /v1/state/keystore/tls/ca/{name}/certificates`
   */
  list(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.CaCertificatesListAnswerItem[]> {
    return this.#sender.json<Api.CaCertificatesListAnswerItem[]>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/certificates`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Certificates this CA issued, by serial number. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/tls/ca/{name}/certificates`
   */
  listEach(name: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.CaCertificatesListAnswerItem, void, undefined> {
    return this.#sender.pages<Api.CaCertificatesListAnswerItem>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/certificates`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * One certificate this CA issued.
   * `GET /v1/state/keystore/tls/ca/{name}/certificates/{serial}`
   */
  show(name: string, serial: string, options: CallOptions = {}): Promise<Api.CaCertificatesListAnswerItem> {
    return this.#sender.json<Api.CaCertificatesListAnswerItem>({ method: 'GET', path: `/v1/state/keystore/tls/ca/${segment(name)}/certificates/${segment(serial)}`, isIdempotent: true }, options);
  }
}

class CryptoFunctionsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Generate random bytes.
   * `POST /v1/state/keystore/crypto-functions/random-bytes`
   */
  randomBytes(body: Api.CryptoFunctionsRandomBytesRequest = {}, options: CallOptions = {}): Promise<Api.CryptoFunctionsRandomBytesAnswer> {
    return this.#sender.json<Api.CryptoFunctionsRandomBytesAnswer>({ method: 'POST', path: '/v1/state/keystore/crypto-functions/random-bytes', body, isIdempotent: false }, options);
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
  show(options: CallOptions = {}): Promise<Api.HealthShowAnswer> {
    return this.#sender.json<Api.HealthShowAnswer>({ method: 'GET', path: '/v1/state/system/health', isIdempotent: true, isPublic: true }, options);
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
  show(options: CallOptions = {}): Promise<Api.HsmShowAnswer> {
    return this.#sender.json<Api.HsmShowAnswer>({ method: 'GET', path: '/v1/state/system/hsm', isIdempotent: true }, options);
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
  importOpenpgp(body: Api.KeystoreImportOpenpgpRequest, options: CallOptions = {}): Promise<Api.KeystoreImportOpenpgpAnswer> {
    return this.#sender.json<Api.KeystoreImportOpenpgpAnswer>({ method: 'POST', path: '/v1/state/keystore/import-openpgp', body, isIdempotent: false }, options);
  }
}

class LoginsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * End the own token, and with it its session.
   * `POST /v1/logout`
   */
  logout(options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/logout', isIdempotent: false }, options);
  }

  /**
   * Fetch the token of a sign-in, once it is approved.
   * Until then 400 with `authorization-pending`; the member `error` carries the same in the spelling of RFC 8628.
   * `POST /v1/oidc-login/poll`
   */
  postV1OidcLoginPoll(body: Api.PostV1OidcLoginPollRequest, options: CallOptions = {}): Promise<Api.PostV1OidcLoginPollAnswer> {
    return this.#sender.json<Api.PostV1OidcLoginPollAnswer>({ method: 'POST', path: '/v1/oidc-login/poll', body, isIdempotent: false, isPublic: true }, options);
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
   * `POST /v1/config/keystore/authentication/oidc`
   */
  create(body: Api.OidcServiceCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.OidcService> {
    return this.#sender.json<Api.OidcService>({ method: 'POST', path: '/v1/config/keystore/authentication/oidc', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete an OIDC service.
   * `DELETE /v1/config/keystore/authentication/oidc/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * Say which roles claims match, and why not.
   * Takes `claims`, or as `login` the reference of a sign-in that failed within the last day.
   * `POST /v1/state/keystore/authentication/oidc/{name}/explain`
   */
  explain(name: string, body: Api.OidcExplainRequest = {}, options: CallOptions = {}): Promise<Api.OidcExplainAnswer> {
    return this.#sender.json<Api.OidcExplainAnswer>({ method: 'POST', path: `/v1/state/keystore/authentication/oidc/${segment(name)}/explain`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every OIDC service.
   * `GET /v1/state/keystore/authentication/oidc`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.OidcServiceState[]> {
    return this.#sender.json<Api.OidcServiceState[]>({ method: 'GET', path: '/v1/state/keystore/authentication/oidc', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC service. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/authentication/oidc`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.OidcServiceState, void, undefined> {
    return this.#sender.pages<Api.OidcServiceState>({ method: 'GET', path: '/v1/state/keystore/authentication/oidc', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC service.
   * `GET /v1/config/keystore/authentication/oidc`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.OidcService[]> {
    return this.#sender.json<Api.OidcService[]>({ method: 'GET', path: '/v1/config/keystore/authentication/oidc', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC service. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/keystore/authentication/oidc`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.OidcService, void, undefined> {
    return this.#sender.pages<Api.OidcService>({ method: 'GET', path: '/v1/config/keystore/authentication/oidc', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Ask for a sign-in that a person finishes in a browser.
   * `POST /v1/oidc-login`
   */
  login(body: Api.OidcLoginRequest, options: CallOptions = {}): Promise<Api.OidcLoginAnswer> {
    return this.#sender.json<Api.OidcLoginAnswer>({ method: 'POST', path: '/v1/oidc-login', body, isIdempotent: false, isPublic: true }, options);
  }

  /**
   * Merge into an OIDC service.
   * `PATCH /v1/config/keystore/authentication/oidc/{name}`
   */
  merge(name: string, body: Api.OidcServiceMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace an OIDC service.
   * `PUT /v1/config/keystore/authentication/oidc/{name}`
   */
  replace(name: string, body: Api.OidcServiceReplacement, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.OidcService | undefined> {
    return this.#sender.json<Api.OidcService | undefined>({ method: 'PUT', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of an OIDC service.
   * `GET /v1/state/keystore/authentication/oidc/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.OidcServiceState> {
    return this.#sender.json<Api.OidcServiceState>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read an OIDC service.
   * `GET /v1/config/keystore/authentication/oidc/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.OidcService> {
    return this.#sender.json<Api.OidcService>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Check a provider without a login.
   * Always 200: faults are in `findings`, each with its fix.
   * `POST /v1/state/keystore/authentication/oidc/{name}/test`
   */
  test(name: string, body: Api.OidcTestRequest = {}, options: CallOptions = {}): Promise<Api.OidcTestAnswer> {
    return this.#sender.json<Api.OidcTestAnswer>({ method: 'POST', path: `/v1/state/keystore/authentication/oidc/${segment(name)}/test`, body, isIdempotent: false }, options);
  }
}

class OidcRolesOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Create an OIDC role.
   * `POST /v1/config/keystore/authentication/oidc/{service}/roles`
   */
  create(service: string, body: Api.OidcRoleCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.OidcRole> {
    return this.#sender.json<Api.OidcRole>({ method: 'POST', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles`, query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete an OIDC role.
   * `DELETE /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  delete(service: string, name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC role.
   * `GET /v1/state/keystore/authentication/oidc/{service}/roles`
   */
  list(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.OidcRoleState[]> {
    return this.#sender.json<Api.OidcRoleState[]>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every OIDC role. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/authentication/oidc/{service}/roles`
   */
  listEach(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.OidcRoleState, void, undefined> {
    return this.#sender.pages<Api.OidcRoleState>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC role.
   * `GET /v1/config/keystore/authentication/oidc/{service}/roles`
   */
  listConfig(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.OidcRole[]> {
    return this.#sender.json<Api.OidcRole[]>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every OIDC role. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/keystore/authentication/oidc/{service}/roles`
   */
  listConfigEach(service: string, options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.OidcRole, void, undefined> {
    return this.#sender.pages<Api.OidcRole>({ method: 'GET', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles`, query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Merge into an OIDC role.
   * `PATCH /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  merge(service: string, name: string, body: Api.OidcRoleMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace an OIDC role.
   * `PUT /v1/config/keystore/authentication/oidc/{service}/roles/{name}`
   */
  replace(service: string, name: string, body: Api.OidcRoleReplacement = {}, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.OidcRole | undefined> {
    return this.#sender.json<Api.OidcRole | undefined>({ method: 'PUT', path: `/v1/config/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of an OIDC role.
   * `GET /v1/state/keystore/authentication/oidc/{service}/roles/{name}`
   */
  show(service: string, name: string, options: CallOptions = {}): Promise<Api.OidcRoleState> {
    return this.#sender.json<Api.OidcRoleState>({ method: 'GET', path: `/v1/state/keystore/authentication/oidc/${segment(service)}/roles/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read an OIDC role.
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
   * `POST /v1/config/policy/policies`
   */
  create(body: Api.PolicyCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.PolicyWithWarnings> {
    return this.#sender.json<Api.PolicyWithWarnings>({ method: 'POST', path: '/v1/config/policy/policies', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete a policy.
   * `DELETE /v1/config/policy/policies/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/policy/policies/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * List the state of every policy.
   * `GET /v1/state/policy/policies`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.PolicyState[]> {
    return this.#sender.json<Api.PolicyState[]>({ method: 'GET', path: '/v1/state/policy/policies', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every policy. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/policy/policies`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.PolicyState, void, undefined> {
    return this.#sender.pages<Api.PolicyState>({ method: 'GET', path: '/v1/state/policy/policies', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every policy.
   * `GET /v1/config/policy/policies`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Policy[]> {
    return this.#sender.json<Api.Policy[]>({ method: 'GET', path: '/v1/config/policy/policies', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every policy. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/policy/policies`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Policy, void, undefined> {
    return this.#sender.pages<Api.Policy>({ method: 'GET', path: '/v1/config/policy/policies', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Merge into a policy.
   * `PATCH /v1/config/policy/policies/{name}`
   */
  merge(name: string, body: Api.PolicyMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<Api.PolicyWithWarnings | undefined> {
    return this.#sender.json<Api.PolicyWithWarnings | undefined>({ method: 'PATCH', path: `/v1/config/policy/policies/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace a policy.
   * `PUT /v1/config/policy/policies/{name}`
   */
  replace(name: string, body: Api.PolicyReplacement = {}, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.PolicyWithWarnings | undefined> {
    return this.#sender.json<Api.PolicyWithWarnings | undefined>({ method: 'PUT', path: `/v1/config/policy/policies/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of a policy.
   * `GET /v1/state/policy/policies/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.PolicyState> {
    return this.#sender.json<Api.PolicyState>({ method: 'GET', path: `/v1/state/policy/policies/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a policy.
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
   * stays open: values that `restricted` speaks of, and giving policies that one does not have.
   * `POST /v1/state/policy/check`
   */
  check(body: Api.PolicyCheckRequest, options: CallOptions = {}): Promise<Api.PolicyCheckAnswer> {
    return this.#sender.json<Api.PolicyCheckAnswer>({ method: 'POST', path: '/v1/state/policy/check', body, isIdempotent: false }, options);
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
   * Take an encrypted backup of the whole appliance.
   * The answer is an age file around a tar archive, encrypted under the passphrase or to the recipients. It is complete
   * only if it has the length that content-length says. Keep what opens it apart from it: nothing else does.
   * `POST /v1/state/system/backup`
   */
  backup(body: Api.SystemBackupRequest = {}, options: CallOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#sender.stream({ method: 'POST', path: '/v1/state/system/backup', body, isIdempotent: false }, options);
  }

  /**
   * The CA certificates of this appliance, for callers that know only its address.
   * A caller that does not trust them yet compares the fingerprint with one from another source.
   * `GET /v1/ca/system/appliance/ca.pem`
   */
  getV1CaSystemApplianceCaPem(options: CallOptions = {}): Promise<string> {
    return this.#sender.text({ method: 'GET', path: '/v1/ca/system/appliance/ca.pem', isIdempotent: true, isPublic: true }, options);
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
   * Rotate the key that wraps all others.
   * New keys are wrapped under the new one at once. Every stored key is rewrapped in the background, inside the token; the
   * old wrapping key is destroyed when nothing needs it. Progress is in the answer of `GET /v1/state/system/hsm`.
   * `POST /v1/state/system/rotate-wrapping-key`
   */
  rotateWrappingKey(body: Api.SystemRotateWrappingKeyRequest = {}, options: CallOptions = {}): Promise<Api.SystemRotateWrappingKeyAnswer> {
    return this.#sender.json<Api.SystemRotateWrappingKeyAnswer>({ method: 'POST', path: '/v1/state/system/rotate-wrapping-key', body, isIdempotent: false }, options);
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
   * Give the PIN of the tokens to a sealed appliance.
   * A PIN is tried once. After a refused one the next attempt has to wait; after three the daemon must be started again,
   * because tokens lock themselves.
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
   * `POST /v1/config/tenants`
   */
  create(body: Api.TenantCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.Tenant> {
    return this.#sender.json<Api.Tenant>({ method: 'POST', path: '/v1/config/tenants', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Delete a tenant.
   * `DELETE /v1/config/tenants/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/tenants/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * List the state of every tenant.
   * `GET /v1/state/tenants`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.TenantState[]> {
    return this.#sender.json<Api.TenantState[]>({ method: 'GET', path: '/v1/state/tenants', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every tenant. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/tenants`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.TenantState, void, undefined> {
    return this.#sender.pages<Api.TenantState>({ method: 'GET', path: '/v1/state/tenants', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every tenant.
   * `GET /v1/config/tenants`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.Tenant[]> {
    return this.#sender.json<Api.Tenant[]>({ method: 'GET', path: '/v1/config/tenants', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every tenant. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/tenants`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.Tenant, void, undefined> {
    return this.#sender.pages<Api.Tenant>({ method: 'GET', path: '/v1/config/tenants', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Merge into a tenant.
   * `PATCH /v1/config/tenants/{name}`
   */
  merge(name: string, body: Api.TenantMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/tenants/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace a tenant.
   * `PUT /v1/config/tenants/{name}`
   */
  replace(name: string, body: Api.TenantReplacement = {}, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.Tenant | undefined> {
    return this.#sender.json<Api.Tenant | undefined>({ method: 'PUT', path: `/v1/config/tenants/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Read the state of a tenant.
   * `GET /v1/state/tenants/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.TenantState> {
    return this.#sender.json<Api.TenantState>({ method: 'GET', path: `/v1/state/tenants/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a tenant.
   * `GET /v1/config/tenants/{name}`
   */
  showConfig(name: string, options: CallOptions = {}): Promise<Api.Tenant> {
    return this.#sender.json<Api.Tenant>({ method: 'GET', path: `/v1/config/tenants/${segment(name)}`, isIdempotent: true }, options);
  }
}

class TlsCAsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The certificate of a CA, and its issuers up to the root.
   * `GET /v1/ca/{tenant}/{ca}/ca.pem`
   */
  getV1CaTenantCaCaPem(tenant: string, ca: string, options: CallOptions = {}): Promise<string> {
    return this.#sender.text({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/ca.pem`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The revocation list of the newest key of a CA, DER.
   * `GET /v1/ca/{tenant}/{ca}/crl`
   */
  getV1CaTenantCaCrl(tenant: string, ca: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/crl`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The revocation list of one key of a CA, DER: what its certificates point to.
   * `GET /v1/ca/{tenant}/{ca}/crl/{version}`
   */
  getV1CaTenantCaCrlVersion(tenant: string, ca: string, version: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/crl/${segment(version)}`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The same with the request in the path, base64 (RFC 6960 appendix A.1).
   * `GET /v1/ca/{tenant}/{ca}/ocsp/{request}`
   */
  getV1CaTenantCaOcspRequest(tenant: string, ca: string, request: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'GET', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/ocsp/${segment(request)}`, isIdempotent: true, isPublic: true }, options);
  }

  /**
   * The status of a certificate (RFC 6960, RFC 5019).
   * `POST /v1/ca/{tenant}/{ca}/ocsp`
   */
  postV1CaTenantCaOcsp(tenant: string, ca: string, body: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#sender.octets({ method: 'POST', path: `/v1/ca/${segment(tenant)}/${segment(ca)}/ocsp`, octets: body, mediaType: 'application/ocsp-request', isIdempotent: false, isPublic: true }, options);
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
  disable(body: Api.TokenInfoRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: '/v1/state/keystore/token/disable', body, isIdempotent: false }, options);
  }

  /**
   * What a token is; without fields: the own one.
   * `POST /v1/state/keystore/token/info`
   */
  info(body: Api.TokenInfoRequest = {}, options: CallOptions = {}): Promise<Api.TokenInfoAnswer> {
    return this.#sender.json<Api.TokenInfoAnswer>({ method: 'POST', path: '/v1/state/keystore/token/info', body, isIdempotent: false }, options);
  }

  /**
   * Give the own token a new expiry.
   * The value stays. The new expiry is now plus the smaller of `increment` and the token's ttl, never past its longest
   * life.
   * `POST /v1/state/keystore/token/refresh`
   */
  refresh(body: Api.TokenRefreshRequest = {}, options: CallOptions = {}): Promise<Api.TokenInfoAnswer> {
    return this.#sender.json<Api.TokenInfoAnswer>({ method: 'POST', path: '/v1/state/keystore/token/refresh', body, isIdempotent: false }, options);
  }
}

class TokensOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * List the tokens of the tenant by accessor.
   * `GET /v1/state/keystore/tokens`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.TokenInfoAnswer[]> {
    return this.#sender.json<Api.TokenInfoAnswer[]>({ method: 'GET', path: '/v1/state/keystore/tokens', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the tokens of the tenant by accessor. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/tokens`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.TokenInfoAnswer, void, undefined> {
    return this.#sender.pages<Api.TokenInfoAnswer>({ method: 'GET', path: '/v1/state/keystore/tokens', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }
}

class TopicsOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * List the topics one can read.
   * `GET /v1/state/topics`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.TopicsListAnswerItem[]> {
    return this.#sender.json<Api.TopicsListAnswerItem[]>({ method: 'GET', path: '/v1/state/topics', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the topics one can read. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/topics`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.TopicsListAnswerItem, void, undefined> {
    return this.#sender.pages<Api.TopicsListAnswerItem>({ method: 'GET', path: '/v1/state/topics', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Read a topic as JSON lines.
   * Records in the order of time, one JSON object a line; without parameters all there are. A stream that follows ends
   * when the token does.
   * `GET /v1/state/topics/{topic}`
   */
  show(topic: string, options: CallOptions & { since?: string | undefined; limit?: number | undefined; follow?: boolean | undefined } = {}): AsyncGenerator<unknown, void, undefined> {
    return this.#sender.lines({ method: 'GET', path: `/v1/state/topics/${segment(topic)}`, query: { since: options.since, limit: options.limit, follow: options.follow }, isIdempotent: true }, options);
  }
}

class TransitKeysOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Back up a key in clear.
   * `POST /v1/state/keystore/transit-keys/{name}/backup`
   */
  backup(name: string, options: CallOptions = {}): Promise<Api.TransitKeysBackupAnswer> {
    return this.#sender.json<Api.TransitKeysBackupAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/backup`, isIdempotent: false }, options);
  }

  /**
   * Create a transit key.
   * `POST /v1/config/keystore/transit-keys`
   */
  create(body: Api.TransitKeyCreation, options: CallOptions & { validate?: boolean | undefined } = {}): Promise<Api.TransitKey> {
    return this.#sender.json<Api.TransitKey>({ method: 'POST', path: '/v1/config/keystore/transit-keys', query: { validate: options.validate }, body, isIdempotent: false }, options);
  }

  /**
   * Decrypt a ciphertext.
   * `POST /v1/state/keystore/transit-keys/{name}/decrypt`
   */
  decrypt(name: string, body: Api.TransitKeysDecryptRequest, options: CallOptions = {}): Promise<Api.TransitKeysDecryptAnswer> {
    return this.#sender.json<Api.TransitKeysDecryptAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/decrypt`, body, isIdempotent: false }, options);
  }

  /**
   * Delete a transit key.
   * `DELETE /v1/config/keystore/transit-keys/{name}`
   */
  delete(name: string, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'DELETE', path: `/v1/config/keystore/transit-keys/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch }, isIdempotent: true }, options);
  }

  /**
   * Encrypt a plaintext of up to 2 MiB.
   * `POST /v1/state/keystore/transit-keys/{name}/encrypt`
   */
  encrypt(name: string, body: Api.TransitKeysEncryptRequest, options: CallOptions = {}): Promise<Api.TransitKeysEncryptAnswer> {
    return this.#sender.json<Api.TransitKeysEncryptAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/encrypt`, body, isIdempotent: false }, options);
  }

  /**
   * Export key material.
   * `POST /v1/state/keystore/transit-keys/{name}/export`
   */
  export(name: string, body: Api.TransitKeysExportRequest = {}, options: CallOptions = {}): Promise<Api.TransitKeysExportAnswer> {
    return this.#sender.json<Api.TransitKeysExportAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export`, body, isIdempotent: false }, options);
  }

  /**
   * Export the OpenPGP public key block.
   * Of a primary key its certificate; of a subkey the certificate of its primary with the subkey in it. With version all
   * and subkeys one block that verifies everything the primary key and its subkeys have signed. Needs no exportable.
   * `POST /v1/state/keystore/transit-keys/{name}/export-openpgp-public`
   */
  exportOpenpgpPublic(name: string, body: Api.TransitKeysExportOpenpgpPublicRequest = {}, options: CallOptions = {}): Promise<Api.TransitKeysExportOpenpgpPublicAnswer> {
    return this.#sender.json<Api.TransitKeysExportOpenpgpPublicAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export-openpgp-public`, body, isIdempotent: false }, options);
  }

  /**
   * Make an OpenPGP revocation certificate.
   * Publishing it revokes the key for everybody; the key itself goes on working here. Of a subkey, its block with the
   * revocation in it. With the reasons superseded and retired earlier signatures stay good.
   * `POST /v1/state/keystore/transit-keys/{name}/export-openpgp-revocation`
   */
  exportOpenpgpRevocation(name: string, body: Api.TransitKeysExportOpenpgpRevocationRequest = {}, options: CallOptions = {}): Promise<Api.TransitKeysExportOpenpgpRevocationAnswer> {
    return this.#sender.json<Api.TransitKeysExportOpenpgpRevocationAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/export-openpgp-revocation`, body, isIdempotent: false }, options);
  }

  /**
   * Make a data key.
   * `POST /v1/state/keystore/transit-keys/{name}/generate-data-key`
   */
  generateDataKey(name: string, body: Api.TransitKeysGenerateDataKeyRequest = {}, options: CallOptions = {}): Promise<Api.TransitKeysGenerateDataKeyAnswer> {
    return this.#sender.json<Api.TransitKeysGenerateDataKeyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/generate-data-key`, body, isIdempotent: false }, options);
  }

  /**
   * Calculate an HMAC; check it with verify.
   * `POST /v1/state/keystore/transit-keys/{name}/hmac`
   */
  hmac(name: string, body: Api.TransitKeysHmacRequest, options: CallOptions = {}): Promise<Api.TransitKeysHmacAnswer> {
    return this.#sender.json<Api.TransitKeysHmacAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/hmac`, body, isIdempotent: false }, options);
  }

  /**
   * Import key material as a new version.
   * `POST /v1/state/keystore/transit-keys/{name}/import`
   */
  import(name: string, body: Api.TransitKeysImportRequest = {}, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/import`, body, isIdempotent: false }, options);
  }

  /**
   * List the state of every transit key.
   * `GET /v1/state/keystore/transit-keys`
   */
  list(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.TransitKeyState[]> {
    return this.#sender.json<Api.TransitKeyState[]>({ method: 'GET', path: '/v1/state/keystore/transit-keys', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List the state of every transit key. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/state/keystore/transit-keys`
   */
  listEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.TransitKeyState, void, undefined> {
    return this.#sender.pages<Api.TransitKeyState>({ method: 'GET', path: '/v1/state/keystore/transit-keys', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every transit key.
   * `GET /v1/config/keystore/transit-keys`
   */
  listConfig(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): Promise<Api.TransitKey[]> {
    return this.#sender.json<Api.TransitKey[]>({ method: 'GET', path: '/v1/config/keystore/transit-keys', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * List every transit key. Follows the pages: entries come as they are read, `limit` at a time.
   * `GET /v1/config/keystore/transit-keys`
   */
  listConfigEach(options: CallOptions & { after?: string | undefined; limit?: number | undefined } = {}): AsyncGenerator<Api.TransitKey, void, undefined> {
    return this.#sender.pages<Api.TransitKey>({ method: 'GET', path: '/v1/config/keystore/transit-keys', query: { after: options.after, limit: options.limit }, isIdempotent: true }, options);
  }

  /**
   * Merge into a transit key.
   * `PATCH /v1/config/keystore/transit-keys/{name}`
   */
  merge(name: string, body: Api.TransitKeyMerge = {}, options: CallOptions & { validate?: boolean | undefined; lists?: Api.TenantsMergeLists | undefined; ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#sender.nothing({ method: 'PATCH', path: `/v1/config/keystore/transit-keys/${segment(name)}`, query: { validate: options.validate, lists: options.lists }, headers: { 'if-match': options.ifMatch }, body, isIdempotent: false }, options);
  }

  /**
   * Sign data with an OpenPGP key.
   * Makes a detached OpenPGP signature that gpg, sq and package managers verify with the block of export-openpgp-public.
   * The audit record names what was signed in `signed-digest`: `sha256:` and the SHA-256 of the text.
   * `POST /v1/state/keystore/transit-keys/{name}/openpgp-sign`
   */
  openpgpSign(name: string, body: Api.TransitKeysOpenpgpSignRequest, options: CallOptions = {}): Promise<Api.TransitKeysOpenpgpSignAnswer> {
    return this.#sender.json<Api.TransitKeysOpenpgpSignAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/openpgp-sign`, body, isIdempotent: false }, options);
  }

  /**
   * Verify a detached OpenPGP signature.
   * The version is found by the fingerprint in the signature. Of several signatures one good one suffices. Well-formed but
   * not good is valid: false; unreadable is an error.
   * `POST /v1/state/keystore/transit-keys/{name}/openpgp-verify`
   */
  openpgpVerify(name: string, body: Api.TransitKeysOpenpgpVerifyRequest, options: CallOptions = {}): Promise<Api.TransitKeysOpenpgpVerifyAnswer> {
    return this.#sender.json<Api.TransitKeysOpenpgpVerifyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/openpgp-verify`, body, isIdempotent: false }, options);
  }

  /**
   * Create or replace a transit key.
   * `PUT /v1/config/keystore/transit-keys/{name}`
   */
  replace(name: string, body: Api.TransitKeyReplacement = {}, options: CallOptions & { validate?: boolean | undefined; ifMatch?: string | undefined; ifNoneMatch?: string | undefined } = {}): Promise<Api.TransitKey | undefined> {
    return this.#sender.json<Api.TransitKey | undefined>({ method: 'PUT', path: `/v1/config/keystore/transit-keys/${segment(name)}`, query: { validate: options.validate }, headers: { 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch }, body, isIdempotent: true }, options);
  }

  /**
   * Restore a key from a backup.
   * `POST /v1/state/keystore/transit-keys/{name}/restore`
   */
  restore(name: string, body: Api.TransitKeysRestoreRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/restore`, body, isIdempotent: false }, options);
  }

  /**
   * Encrypt a ciphertext again under the newest version.
   * `POST /v1/state/keystore/transit-keys/{name}/rewrap`
   */
  rewrap(name: string, body: Api.TransitKeysRewrapRequest, options: CallOptions = {}): Promise<Api.TransitKeysRewrapAnswer> {
    return this.#sender.json<Api.TransitKeysRewrapAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/rewrap`, body, isIdempotent: false }, options);
  }

  /**
   * Make a new version.
   * `POST /v1/state/keystore/transit-keys/{name}/rotate`
   */
  rotate(name: string, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/rotate`, isIdempotent: false }, options);
  }

  /**
   * Read the state of a transit key.
   * `GET /v1/state/keystore/transit-keys/{name}`
   */
  show(name: string, options: CallOptions = {}): Promise<Api.TransitKeyState> {
    return this.#sender.json<Api.TransitKeyState>({ method: 'GET', path: `/v1/state/keystore/transit-keys/${segment(name)}`, isIdempotent: true }, options);
  }

  /**
   * Read a transit key.
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
  sign(name: string, body: Api.TransitKeysSignRequest, options: CallOptions = {}): Promise<Api.TransitKeysSignAnswer> {
    return this.#sender.json<Api.TransitKeysSignAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/sign`, body, isIdempotent: false }, options);
  }

  /**
   * Remove old versions.
   * `POST /v1/state/keystore/transit-keys/{name}/trim`
   */
  trim(name: string, body: Api.TransitKeysTrimRequest, options: CallOptions = {}): Promise<void> {
    return this.#sender.nothing({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/trim`, body, isIdempotent: false }, options);
  }

  /**
   * Verify a signature or an HMAC.
   * `POST /v1/state/keystore/transit-keys/{name}/verify`
   */
  verify(name: string, body: Api.TransitKeysVerifyRequest, options: CallOptions = {}): Promise<Api.TransitKeysVerifyAnswer> {
    return this.#sender.json<Api.TransitKeysVerifyAnswer>({ method: 'POST', path: `/v1/state/keystore/transit-keys/${segment(name)}/verify`, body, isIdempotent: false }, options);
  }
}

class WrappingKeyOperations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The public key under which keys are wrapped for import.
   * Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES key wrap with padding of the
   * material.
   * `GET /v1/state/keystore/wrapping-key`
   */
  show(options: CallOptions = {}): Promise<Api.WrappingKeyShowAnswer> {
    return this.#sender.json<Api.WrappingKeyShowAnswer>({ method: 'GET', path: '/v1/state/keystore/wrapping-key', isIdempotent: true }, options);
  }
}

/** Every operation of the API, grouped as in keystorectl. */
export class Operations {
  readonly approle: ApproleOperations;
  readonly approles: ApprolesOperations;
  readonly approlesSecretIds: ApprolesSecretIdsOperations;
  readonly audit: AuditOperations;
  readonly backupStatus: BackupStatusOperations;
  readonly ca: CaOperations;
  readonly caCertificates: CaCertificatesOperations;
  readonly cryptoFunctions: CryptoFunctionsOperations;
  readonly health: HealthOperations;
  readonly hsm: HsmOperations;
  readonly keystore: KeystoreOperations;
  readonly logins: LoginsOperations;
  readonly metrics: MetricsOperations;
  readonly oidc: OidcOperations;
  readonly oidcRoles: OidcRolesOperations;
  readonly policies: PoliciesOperations;
  readonly policy: PolicyOperations;
  readonly system: SystemOperations;
  readonly tenants: TenantsOperations;
  readonly tlsCAs: TlsCAsOperations;
  readonly token: TokenOperations;
  readonly tokens: TokensOperations;
  readonly topics: TopicsOperations;
  readonly transitKeys: TransitKeysOperations;
  readonly wrappingKey: WrappingKeyOperations;

  constructor(sender: Sender) {
    this.approle = new ApproleOperations(sender);
    this.approles = new ApprolesOperations(sender);
    this.approlesSecretIds = new ApprolesSecretIdsOperations(sender);
    this.audit = new AuditOperations(sender);
    this.backupStatus = new BackupStatusOperations(sender);
    this.ca = new CaOperations(sender);
    this.caCertificates = new CaCertificatesOperations(sender);
    this.cryptoFunctions = new CryptoFunctionsOperations(sender);
    this.health = new HealthOperations(sender);
    this.hsm = new HsmOperations(sender);
    this.keystore = new KeystoreOperations(sender);
    this.logins = new LoginsOperations(sender);
    this.metrics = new MetricsOperations(sender);
    this.oidc = new OidcOperations(sender);
    this.oidcRoles = new OidcRolesOperations(sender);
    this.policies = new PoliciesOperations(sender);
    this.policy = new PolicyOperations(sender);
    this.system = new SystemOperations(sender);
    this.tenants = new TenantsOperations(sender);
    this.tlsCAs = new TlsCAsOperations(sender);
    this.token = new TokenOperations(sender);
    this.tokens = new TokensOperations(sender);
    this.topics = new TopicsOperations(sender);
    this.transitKeys = new TransitKeysOperations(sender);
    this.wrappingKey = new WrappingKeyOperations(sender);
  }
}
