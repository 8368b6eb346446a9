// Hostile requests, drawn from a seed: every endpoint of the description with mutated paths, queries, headers and bodies, and raw octets.
import type { OpenApiDocument } from '../../core/http/description/openapi.ts';

/** Who sends a case: an unauthenticated caller, one with hardly any permissions, one with all. */
export type Identity = 'unauthenticated' | 'fenced' | 'root';

export type Case = {
  readonly identity: Identity;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
  /** sent as these octets on a separate connection, instead of the other fields */
  readonly raw?: string;
};

/** Used where a secret could be: it must not appear anywhere. */
export const canary = 'fuzz-canary-51c0ffee';
/** Used everywhere else, where records may contain it: no refusal may repeat it. */
export const echo = 'fuzz-echo-0ddba11';

/** Mulberry32: small, fast and deterministic. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}

type Field = { readonly name: string; readonly isSecret: boolean };
type Endpoint = { readonly path: string; readonly method: string; readonly fields: readonly Field[] };

/** Requests that stop or drain the appliance or end the caller's token when its owner sends them. The other identities may send them. */
const sparedForRoot = [/\/system\/seal$/, /\/system\/backup$/, /\/oidc\/\{[^}]+\}\/test$/, /\/accept-clock$/];
const sparedForTokens = [/\/token\/disable$/, /\/v1\/logout$/];

/** Draws cases for one API. */
export class CaseMaker {
  readonly #endpoints: readonly Endpoint[];
  readonly #dice: Dice;

  constructor(description: OpenApiDocument, dice: Dice) {
    this.#dice = dice;
    this.#endpoints = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        fields: fieldsIn(operation.requestBody),
      })),
    );
  }

  draw(): Case {
    const dice = this.#dice;
    const identity = dice.pick(['unauthenticated', 'fenced', 'root'] as const);
    if (dice.chance(0.04)) return { identity, method: 'RAW', target: '', headers: [], body: undefined, raw: rawRequest(dice) };
    const endpoint = dice.pick(this.#endpoints);
    const spared = [...(identity === 'root' ? sparedForRoot : []), ...(identity === 'unauthenticated' ? [] : sparedForTokens)];
    const isSpared = spared.some((one) => one.test(endpoint.path));
    const method = dice.chance(0.9) && !isSpared ? endpoint.method : dice.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'LIST']); // prettier-ignore
    const takesBody = ['POST', 'PUT', 'PATCH'].includes(method) || dice.chance(0.05);
    return {
      identity,
      method,
      target: `${this.#path(endpoint.path)}${this.#query(endpoint.path)}`,
      headers: this.#headers(takesBody),
      body: takesBody ? this.#body(endpoint) : undefined,
    };
  }

  #path(template: string): string {
    const dice = this.#dice;
    const path = template.replaceAll(/\{[^}]+\}/g, () =>
      dice.chance(0.7) ? dice.pick(usualNames) : encoded(dice, dice.pick(strangeTexts)),
    );
    return dice.chance(0.12) ? mutatedPath(dice, path) : path;
  }

  #query(path: string): string {
    const dice = this.#dice;
    // Whole topics and endless streams are subjects of other tests.
    if (path.includes('/topics/')) return `?limit=${dice.pick(['1', '3', '0', 'x'])}`;
    if (dice.chance(0.8)) return '';
    const value = (): string => encoded(dice, dice.pick([...strangeTexts, 'true', 'false', '1', '0', 'name', 'a/b', canary]));
    const names = ['keys', 'count', 'after', 'limit', 'fields', 'validate', '__proto__', 'x', ''];
    return `?${Array.from({ length: 1 + dice.below(3) }, () => `${dice.pick(names)}=${value()}`).join('&')}`;
  }

  #headers(hasBody: boolean): (readonly [string, string])[] {
    const dice = this.#dice;
    const headers: [string, string][] = [];
    if (hasBody) headers.push(['content-type', dice.chance(0.9) ? 'application/json' : dice.pick(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'application/merge-patch+json', '', 'application/json;;;', 'multipart/form-data'])]); // prettier-ignore
    if (dice.chance(0.15)) {
      const value = dice.pick([
        '*',
        '"x"',
        'W/"x"',
        '',
        'a'.repeat(3_000),
        '127.0.0.1',
        'identity',
        'gzip',
        '-1',
        canary,
        '\u00ff\u00fe',
        ',,,,',
      ]);
      headers.push([dice.pick(['if-match', 'if-none-match', 'x-forwarded-for', 'content-encoding', 'accept', 'expect', 'range', 'cookie', 'origin', 'host', 'x-http-method-override', 'te', 'traceparent']), value]); // prettier-ignore
    }
    return headers;
  }

  #body({ fields }: Endpoint): string {
    const dice = this.#dice;
    if (dice.chance(0.1)) return strangeBody(dice);
    const document: Record<string, unknown> = {};
    for (const field of fields)
      if (dice.chance(0.5)) document[field.name] = field.isSecret && dice.chance(0.7) ? canary : this.#value(field.name);
    if (dice.chance(0.15)) Object.defineProperty(document, dice.pick(['__proto__', 'constructor', 'x', '', 'toString', 'unknown-field']), { value: strangeValue(dice), enumerable: true }); // prettier-ignore
    const text = JSON.stringify(document);
    if (dice.chance(0.05)) return text.replace('{', `{"${dice.pick([...fields.map(({ name }) => name), 'name'])}":1,`);
    return dice.chance(0.05) ? text.slice(0, dice.below(text.length + 1)) : text;
  }

  #value(field: string): unknown {
    const dice = this.#dice;
    if (dice.chance(0.3)) return strangeValue(dice);
    if (field === 'name') return dice.pick(usualNames);
    if (field === 'cipher') return dice.pick(['aes256-gcm96', 'ed25519', 'ecdsa-p256', 'rsa-2047', 'ml-dsa-65']);
    return dice.pick(['aGVsbG8=', 'store:v1:AAAA', '1d', 1, true, ['root'], ['user'], {}, '10.0.0.0/8', 'sha256', 'latest']);
  }
}

const usualNames = ['fuzz-a', 'fuzz-b', 'fuzz-c', 'system', 'root', 'default', 'x'];

const strangeTexts = ['..', '.', '%2f', '/', '\\', '\u0000', 'a\u0000b', ' ', '\t', 'Root', 'ROOT', 'rооt', 'ｒｏｏｔ', 'root\u200b', '\u202eroot', '__proto__', 'constructor', 'hasOwnProperty', '*', '**', 'null', 'undefined', 'NaN', '-1', '1e309', "' or 1=1", '${jndi:ldap://x}', '<script>', '%00', '%', '%zz', '\ud83d\ude00', 'a'.repeat(300), 'ä', 'e\u0301', echo, '']; // prettier-ignore

function strangeValue(dice: Dice): unknown {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : dice.chance(0.5) ? [nested(depth - 1)] : { a: nested(depth - 1) });
  const values: readonly (() => unknown)[] = [
    () => dice.pick(strangeTexts),
    () => dice.pick([0, -1, 1.5, 1e21, 2 ** 53, -(2 ** 53), 1e-9, 4294967296]),
    () => null,
    () => [],
    () => ({}),
    () => nested(1 + dice.below(60)),
    () => Array.from({ length: dice.below(50) }, () => dice.pick(strangeTexts)),
    () => echo,
    () => Buffer.from(echo).toString('base64'),
    () => 'A'.repeat(dice.below(5_000)),
    () => Object.fromEntries(Array.from({ length: dice.below(50) }, (_, n) => [`k${n}`, dice.pick(strangeTexts)])),
    () => [[[]], {}, null, echo],
    () => '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
    () => '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxsBN\n=AAAA\n-----END PGP PUBLIC KEY BLOCK-----\n',
  ];
  return dice.pick(values)();
}

function strangeBody(dice: Dice): string {
  const many = 1 + dice.below(2_000);
  const bodies: readonly (() => string)[] = [
    () => '',
    () => '[]',
    () => 'null',
    () => '"text"',
    () => '{"a":1,"a":2}',
    () => `{"a":${'['.repeat(many)}${']'.repeat(many)}}`,
    () => '{"a":'.repeat(many),
    () => `{${Array.from({ length: many }, (_, n) => `"k${n}":0`).join(',')}}`,
    () => `{"a":${'9'.repeat(many)}}`,
    () => '{"a":1e99999}',
    () => '{"__proto__":{"root":true},"constructor":{"prototype":{}}}',
    () => '{"a":"\\ud800"}',
    () => '\ufeff{}',
    () => '{"a":"\u0000"}',
    () => canary,
    () => `{"batch-input":[${'{},'.repeat(many)}{}]}`,
    // Near the limit of a body, and so rare.
    () => (dice.chance(0.9) ? '{}' : `{${Array.from({ length: 300_000 }, (_, n) => `"k${n}":0`).join(',')}}`),
    () => Array.from({ length: 64 }, () => String.fromCharCode(dice.below(256))).join(''),
  ];
  return dice.pick(bodies)();
}

function encoded(dice: Dice, text: string): string {
  const wellFormed = text.isWellFormed() ? text : '\ufffd';
  if (dice.chance(0.3)) return [...Buffer.from(wellFormed)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
  return dice.chance(0.1) ? encodeURIComponent(encodeURIComponent(wellFormed)) : encodeURIComponent(wellFormed);
}

function mutatedPath(dice: Dice, path: string): string {
  const at = dice.below(path.length);
  const [head, tail] = [path.slice(0, at), path.slice(at)];
  const changes: readonly (() => string)[] = [
    () => `${head}/..${tail}`,
    () => `${head}%2f..%2f${tail}`,
    () => `${head}/./${tail}`,
    () => `${head}//${tail}`,
    () => `${head}%00${tail}`,
    () => `${head}%2e%2e/${tail}`,
    () => `${head};x=1${tail}`,
    () => path.toUpperCase(),
    () => `${path}/`,
    () => `${path}//`,
    () => `${path}/${'a/'.repeat(dice.below(300))}`,
    () => `${path}${'a'.repeat(dice.below(9_000))}`,
    () => `https://elsewhere${path}`,
    () => path.slice(1),
    () => path.replaceAll('/', '%2F'),
    () => `${head}%${tail}`,
    () => `${head}%c0%af${tail}`,
    () => path.replace('v1', 'v2'),
    () => path.replace('config', 'state'),
    () => '*',
  ];
  return dice.pick(changes)();
}

/** Requests that no HTTP library would send. */
function rawRequest(dice: Dice): string {
  const host = 'host: localhost\r\n';
  const close = 'connection: close\r\n';
  const requests: readonly (() => string)[] = [
    () => `GET /v1/config/tenants HTTP/1.1\r\n${host}${Array.from({ length: 10_000 }, (_, n) => `x-${n}: ${n}\r\n`).join('')}\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\r\n${host}x: ${'a'.repeat(20_000)}\r\n\r\n`,
    () => `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
    () =>
      `POST /v1/approle-login HTTP/1.1\r\n${host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/config/tenants HTTP/1.1\r\n\r\n`,
    () => `POST /v1/approle-login HTTP/1.1\r\n${host}content-length: 5\r\ncontent-length: 50\r\n\r\n{}   `,
    () => `POST /v1/approle-login HTTP/1.1\r\n${host}${close}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    () => `POST /v1/approle-login HTTP/1.1\r\n${host}${close}transfer-encoding: xchunked\r\n\r\n`,
    () => `POST /v1/approle-login HTTP/1.1\r\n${host}${close}content-length: -1\r\n\r\n`,
    () => `POST /v1/approle-login HTTP/1.1\r\n${host}${close}content-length: 99999999999999999999\r\n\r\n`,
    () => `GET /v1/config/tenants HTTP/9.9\r\n${host}\r\n`,
    () => `GET /v1/config/tenants\r\n\r\n`,
    () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\r\nhost: a\r\nhost: b\r\n${close}\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\r\n${close}\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\r\n${host}${close}authorization: Bearer ${canary}\r\nauthorization: Bearer ${canary}\r\n\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\r\n${host}${close}a\u0000b: c\r\n\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\r\n${host}${close}upgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
    () => `CONNECT localhost:22 HTTP/1.1\r\n${host}\r\n`,
    () => `GET /v1/config/tenants HTTP/1.1\n${host}${close}\n`,
    () => Array.from({ length: 200 }, () => String.fromCharCode(dice.below(256))).join(''),
    () => '\r\n'.repeat(500),
    () => '',
  ];
  return dice.pick(requests)();
}

/** The fields of a body, those of containers among them. */
function fieldsIn(body: unknown): readonly Field[] {
  const fields = new Map<string, Field>();
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 12) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key !== 'properties') visit(inner, depth + 1);
      else
        for (const [name, schema] of Object.entries(inner as Record<string, { 'x-secret'?: boolean }>))
          fields.set(name, { name, isSecret: schema['x-secret'] === true });
    }
  };
  visit(body, 0);
  return [...fields.values()];
}
