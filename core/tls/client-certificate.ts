// The certificate of a TLS client, read once for each socket. A resumed session has lost the intermediates: listeners that rely on them resume none.
import { hash, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { cleanly } from '../base/public-keys/openssl.ts';

/** Thumbprint of the certificate or of the key of a TLS client, by which a token is bound to it (RFC 8705 section 3.1). */
export type Confirmation = {
  readonly kind: 'certificate' | 'key';
  /** SHA-256 of the DER of the certificate (`x5t#S256`), or of its SubjectPublicKeyInfo; base64url */
  readonly sha256: string;
};

/** Intermediates that are read: others see no more of a chain than that. */
const mostIntermediates = 8;

/** Its holder has proved the key in the handshake; nothing else of it is judged. */
export class ClientCertificate {
  /** DER */
  readonly leaf: Uint8Array;
  /** DER, as far as they lead up from the leaf */
  readonly intermediates: readonly Uint8Array[];
  readonly #thumbprints = new Map<Confirmation['kind'], string | undefined>();

  constructor(x509: X509Certificate) {
    this.leaf = x509.raw;
    const intermediates: Uint8Array[] = [];
    for (
      let above = x509.issuerCertificate;
      above !== undefined && intermediates.length < mostIntermediates;
      above = above.issuerCertificate
    )
      intermediates.push(above.raw);
    this.intermediates = intermediates;
  }

  /** Thumbprint as Confirmation has it; undefined for a key that cannot be read. */
  thumbprint(kind: Confirmation['kind']): string | undefined {
    if (!this.#thumbprints.has(kind)) this.#thumbprints.set(kind, readThumbprint(kind, this.leaf));
    return this.#thumbprints.get(kind);
  }
}

/** Thumbprint of a certificate (DER), as Confirmation has it; undefined for one that cannot be read. */
export function readThumbprint(kind: Confirmation['kind'], certificate: Uint8Array): string | undefined {
  try {
    const { raw, publicKey } = cleanly(() => new X509Certificate(certificate));
    const octets = kind === 'certificate' ? raw : cleanly(() => publicKey.export({ type: 'spki', format: 'der' }));
    return hash('sha256', octets, 'base64url');
  } catch {
    return undefined;
  }
}

const known = new WeakMap<Socket, ClientCertificate | null>();

/**
 * The certificate that the client has shown in the handshake; undefined without one. Only getPeerX509Certificate: the older call crashes the process on
 * certificates with curves that have no NIST name.
 */
export function clientCertificateOf(socket: Socket): ClientCertificate | undefined {
  const seen = known.get(socket);
  if (seen !== undefined) return seen ?? undefined;
  const shown = socket instanceof TLSSocket ? cleanly(() => socket.getPeerX509Certificate()) : undefined;
  const certificate = shown === undefined ? undefined : new ClientCertificate(shown);
  known.set(socket, certificate ?? null);
  return certificate;
}

/** Tells whether a client has the certificate or key of a confirmation. */
export function confirms({ kind, sha256 }: Confirmation, certificate: ClientCertificate | undefined): boolean {
  return certificate?.thumbprint(kind) === sha256;
}
