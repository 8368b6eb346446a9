// JSON for the pipes to child processes, the only text in which a given PIN is in clear. Everywhere else it prints as [secret].
import { type PinSource, revealSecret, Secret } from '../api.ts';

/** Members that hold a PinSource: of a token, of a new token, and of a PIN change. */
const pinMembers: ReadonlySet<string> = new Set(['pin', 'soPin', 'newPin']);

type Given = Extract<PinSource, { given: unknown }>;

/** Encodes plain data with PIN sources. The caller zeroes the octets after sending them. */
export function encodeWithPins(value: unknown): Buffer {
  const text = JSON.stringify(value, (name, member: unknown) =>
    pinMembers.has(name) && isGiven(member) ? { given: revealSecret(member.given as Secret<string>) } : member,
  );
  return Buffer.from(text, 'utf8');
}

/** The reverse of encodeWithPins. */
export function decodeWithPins<T>(text: string): T {
  const hide = (name: string, member: unknown): unknown =>
    pinMembers.has(name) && isGiven(member) ? { given: new Secret(member.given) } : member;
  return JSON.parse(text, hide) as T;
}

function isGiven(value: unknown): value is { readonly [Name in keyof Given]: unknown } {
  return typeof value === 'object' && value !== null && 'given' in value;
}
