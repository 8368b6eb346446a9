// Texts of alternative names, for records, lists and the audit trail.
import { formatIpAddress } from './ip.ts';
import type { AlternativeName } from './read-extensions.ts';

/** `DNS:device1.example.test`, `IP:192.0.2.1`, `email:…`, `URI:…`; kinds without a text show as the kind and hexadecimal. */
export function formatAlternativeName({ kind, content }: AlternativeName): string {
  const prefix = texts[kind];
  if (prefix !== undefined) return `${prefix}:${Buffer.from(content).toString('latin1')}`;
  const address = kind === 'ip' ? formatIpAddress(content) : undefined;
  return address === undefined ? `${kind}:${Buffer.from(content).toString('hex')}` : `IP:${address}`;
}

const texts: Readonly<Partial<Record<AlternativeName['kind'], string>>> = { dns: 'DNS', email: 'email', uri: 'URI' };
