// Texts of alternative names, for records, lists and the audit trail.
import { isIP } from 'node:net';
import { implicit, Reader } from '../../../core/der/der.ts';
import { formatIpAddress, parseIpAddress } from '../../../core/der/ip.ts';
import { formatOtherName } from './other-name.ts';
import { type AlternativeName, readGeneralName } from '../der/read-extensions.ts';

/** `DNS:device1.example.test`, `IP:192.0.2.1`, `email:…`, `URI:…`, `otherName:1.3.6.1.4.1.311.20.2.3;UTF8:…`; kinds without a text show as the kind and hexadecimal. */
export function formatAlternativeName({ kind, content }: AlternativeName): string {
  const other = kind === 'otherName' ? formatOtherName(content) : undefined;
  if (other !== undefined) return `otherName:${other}`;
  const prefix = texts[kind];
  if (prefix !== undefined) return `${prefix}:${Buffer.from(content).toString('latin1')}`;
  const address = kind === 'ip' ? formatIpAddress(content) : undefined;
  return address === undefined ? `${kind}:${Buffer.from(content).toString('hex')}` : `IP:${address}`;
}

const texts: Readonly<Partial<Record<AlternativeName['kind'], string>>> = { dns: 'DNS', email: 'email', uri: 'URI' };

/** Reads `DNS:…`, `IP:…`, `email:…` and `URI:…` as formatAlternativeName writes them; anything else is a DNS name, which no policy allows. */
export function parseAlternativeName(text: string): AlternativeName {
  const [kind, value] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
  const isAddress = kind === 'IP' && isIP(value) > 0;
  const general = isAddress
    ? implicit(7, parseIpAddress(value))
    : implicit(kind === 'URI' ? 6 : kind === 'email' ? 1 : 2, Buffer.from(value));
  return readGeneralName(new Reader(general).next());
}
