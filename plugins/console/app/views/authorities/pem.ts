// Certificates in PEM: the octets, and the fingerprint by which people compare them.

/** The octets of each certificate, in their order. */
export function certificatesIn(pem: string): readonly Uint8Array<ArrayBuffer>[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)].map(([, body = '']) =>
    Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0)),
  );
}

/** SHA-256 as screens and openssl write it, `3F:7A:…`. */
export async function fingerprintOf(octets: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', octets));
  return Array.from(digest, (octet) => octet.toString(16).toUpperCase().padStart(2, '0')).join(':');
}
