// Hostile tokens of every class, made from right ones, with the wanted answer. The expectations are by hand, not by a judge.
import { generateKeyPairSync, sign } from 'node:crypto';
import { claimRows, timeRows } from './hostile-claims.ts';
import { audience, es, foreign, issuer, made, ps, rightClaims, rs, type Rows } from './right-token.ts';
import { base64url, hmacToken, makeSigner, makeToken, signAs, signTexts, type Json, type Signer } from './tokens.ts';

export type Hostile = { readonly name: string; readonly token: string; readonly wanted: boolean };

/** Bindings of the role that all rows are sent to, as the API and as the reference judge take them. */
export const bindings = [
  { claim: 'sub', value: 'workload' },
  { claim: 'repository', value: 'acme/app' },
  { claim: 'id', value: 7 },
  { claim: 'protected', value: true },
  { claim: '/nested/a~1b/c', value: 'deep' },
];
export const referenceBindings = [
  [['sub'], 'workload'],
  [['repository'], 'acme/app'],
  [['id'], 7],
  [['protected'], true],
  [['nested', 'a/b', 'c'], 'deep'],
] as const;

/** Every row. All but those that say `true` must be refused. */
export function hostileTokens(now: number): readonly Hostile[] {
  const all: Readonly<Record<string, Rows>> = {
    right: rightRows(now),
    algorithm: algorithmRows(now),
    key: keyRows(now),
    header: headerRows(now),
    form: formRows(now),
    json: jsonRows(now),
    claim: claimRows(now),
    time: timeRows(now),
  };
  return Object.entries(all).flatMap(([kind, rows]) =>
    rows.map(([name, token, wanted = false]) => ({ name: `${kind}: ${name}`, token, wanted })),
  );
}

function rightRows(now: number): Rows {
  return [
    ['ES256', made(now), true],
    ['RS256', made(now, {}, {}, rs), true],
    ['no typ', made(now, {}, { typ: undefined }), true],
    ['typ JOSE', made(now, {}, { typ: 'JOSE' }), true],
    ['no kid, one key for the algorithm', made(now, {}, { kid: undefined }), true],
    ['x5t and x5c, which are ignored', made(now, {}, { x5t: 'AAAA', x5c: ['AAAA'], 'x5t#S256': 'AAAA' }), true],
    ['a list of one audience', made(now, { aud: [audience] }), true],
    ['without nbf', made(now, { nbf: undefined }), true],
    ['without iat', made(now, { iat: undefined }), true],
    ['further claims', made(now, { more: [1, { two: null }], 'iss ': 'x' }), true],
    ['blanks in the JSON', signTexts(es, ` {"alg":"ES256",\n"kid":"es"}\t`, JSON.stringify(rightClaims(now), null, 2)), true],
    ['azp that is the audience', made(now, { azp: audience }), true],
    ['escapes in names', signTexts(es, '{"\\u0061lg":"ES256","kid":"es"}', JSON.stringify(rightClaims(now))), true],
    ['ended 29 s ago', made(now, { iat: now - 300, nbf: undefined, exp: now - 29 }), true],
    ['begins in 29 s', made(now, { iat: now + 29, nbf: now + 29 }), true],
    ['a time with a fraction', made(now, { exp: now + 100.5 }), true],
  ];
}

function algorithmRows(now: number): Rows {
  const claims = rightClaims(now);
  const texts = (header: Json): string => `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  const header = { alg: 'ES256', kid: 'es', typ: 'JWT' };
  const signed = texts(header);
  const right = signAs('ES256', es.privateKey, signed);
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  const spki = rs.publicKey.export({ format: 'pem', type: 'spki' });
  const der = rs.publicKey.export({ format: 'der', type: 'spki' });
  const under = (alg: unknown, signer: Signer = rs): string =>
    signTexts(signer, JSON.stringify({ alg, kid: signer.kid }), JSON.stringify(claims));
  return [
    ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg): Rows => [
      [`${alg || 'empty'} without a signature`, `${texts({ ...header, alg })}.`],
      [`${alg || 'empty'} with the right signature of another header`, `${texts({ ...header, alg })}.${base64url(right)}`],
    ]),
    ...[spki, spki.trim(), der, JSON.stringify(rs.jwk), ''].map((secret, index): Rows[number] => [
      `HS256 with the public key as secret (${index})`,
      hmacToken(secret, { alg: 'HS256', kid: 'rs' }, claims),
    ]),
    ['HS384 with the public key as secret', hmacToken(spki, { alg: 'HS384', kid: 'rs' }, claims, 'sha384')],
    ['RS256 in the header over an HMAC', hmacToken(spki, { alg: 'RS256', kid: 'rs' }, claims)],
    ...['RS384', 'RS512', 'PS256'].map((alg): Rows[number] => [
      `${alg} by the right key, not allowed`,
      makeToken({ ...rs, alg: alg as never }, claims),
    ]),
    ['ES384 in the header over ES256', under('ES384', es)],
    ['RS256 in the header over ES256', under('RS256', es)],
    ['ES256 in the header over RS256', under('ES256', rs)],
    ['in lower case', under('rs256')],
    ['with a blank', under('RS256 ')],
    ['a list', under(['RS256'])],
    ['a number', under(256)],
    ['null', under(null)],
    ['missing', signTexts(rs, '{"kid":"rs"}', JSON.stringify(claims))],
    ['of a key for PS256', makeToken(ps, claims)],
    ['RS256 by a key for PS256', makeToken({ ...ps, alg: 'RS256' }, claims)],
    ['EdDSA', makeToken(makeSigner('EdDSA', 'es'), claims)],
    ['a DER signature', `${signed}.${base64url(sign('sha256', Buffer.from(signed), es.privateKey))}`],
    ['a psychic signature', `${signed}.${base64url(Buffer.alloc(64))}`],
    ['r and s of the order', `${signed}.${base64url(Buffer.concat([order, order]))}`],
    ['s of zero', `${signed}.${base64url(Buffer.concat([right.subarray(0, 32), Buffer.alloc(32)]))}`],
    ['a signature that is too long', `${signed}.${base64url(Buffer.concat([right, Buffer.alloc(1)]))}`],
    ['a signature that is too short', `${signed}.${base64url(right.subarray(0, 63))}`],
    [
      'a signature of 132 octets',
      `${signed}.${base64url(Buffer.concat([Buffer.alloc(34), right.subarray(0, 32), Buffer.alloc(34), right.subarray(32)]))}`,
    ],
    ['the signature of other claims', `${signed}.${made(now, { id: 8 }).split('.')[2]}`],
    [
      'the other right signature of ECDSA',
      `${signed}.${base64url(Buffer.concat([right.subarray(0, 32), otherS(right.subarray(32), order)]))}`,
      true,
    ],
  ];
}

/** n - s: the second signature for one text. */
function otherS(s: Uint8Array, order: Uint8Array): Buffer {
  const number = (octets: Uint8Array): bigint => BigInt(`0x${Buffer.from(octets).toString('hex')}`);
  return Buffer.from((number(order) - number(s)).toString(16).padStart(64, '0'), 'hex');
}

function keyRows(now: number): Rows {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = own.publicKey.export({ format: 'jwk' }) as Json;
  const mine: Signer = { ...foreign, privateKey: own.privateKey, publicKey: own.publicKey, jwk };
  const kid = (value: unknown): string => made(now, {}, { kid: value });
  return [
    ['of another issuer under the right kid', made(now, {}, {}, foreign)],
    ['unknown', kid('unknown')],
    ['of another algorithm', kid('rs')],
    ['empty', kid('')],
    ['a number', kid(1)],
    ['null', kid(null)],
    ['a list', kid(['es'])],
    ['an object', kid({ es: 'es' })],
    ['in other case', kid('ES')],
    ['with a blank', kid('es ')],
    ['a path', kid('../../../../dev/null')],
    ['a query', kid("es' OR '1'='1")],
    ['a URL', kid('https://keys.example/es')],
    ['a NUL', kid('es\u0000')],
    ['a name that every object has', kid('__proto__')],
    ['twice', signTexts(es, '{"alg":"ES256","kid":"es","kid":"es"}', JSON.stringify(rightClaims(now)))],
    ['brought along as jwk', made(now, {}, { jwk }, mine)],
    ['brought along as jwk without kid', made(now, {}, { jwk, kid: undefined }, mine)],
    ['brought along by jku', made(now, {}, { jku: 'https://evil.example/jwks' }, mine)],
    ['brought along by x5u', made(now, {}, { x5u: 'https://evil.example/chain' }, mine)],
    ['brought along as x5c', made(now, {}, { x5c: [own.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')] }, mine)],
    ['right, with a jwk beside it', made(now, {}, { jwk: es.jwk })],
    ['of 1,024 bits', made(now, {}, { kid: 'rs' }, makeSigner('RS256', 'rs', { bits: 1_024 }))],
  ];
}

function headerRows(now: number): Rows {
  const header = (more: Json): string => made(now, {}, more);
  return [
    ...[[], ['exp'], ['b64'], ['unknown'], 'exp', null].map((crit): Rows[number] => [
      `crit ${JSON.stringify(crit)}`,
      header({ crit, unknown: 1 }),
    ]),
    ['crit [] alone', header({ crit: [] })],
    ['b64 false', header({ b64: false, crit: ['b64'] })],
    ['b64 true', header({ b64: true })],
    ['zip', header({ zip: 'DEF' })],
    ['enc', header({ enc: 'A256GCM' })],
    ['cty JWT', header({ cty: 'JWT' })],
    ['iss in the header', header({ iss: issuer })],
    ['nonce', header({ nonce: 'x' })],
    ...['jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'logout+jwt', 'secevent+jwt', 'dpop+jwt', 'kb+jwt', 'JWT ', '', 'vc+sd-jwt'].map(
      (typ): Rows[number] => [`typ ${JSON.stringify(typ)}`, header({ typ })],
    ),
    ['typ a list', header({ typ: ['JWT'] })],
    ['typ null', header({ typ: null })],
    ['alg twice', signTexts(es, '{"alg":"none","alg":"ES256","kid":"es"}', JSON.stringify(rightClaims(now)))],
    ['alg in two spellings', signTexts(es, '{"alg":"ES256","\\u0061lg":"none","kid":"es"}', JSON.stringify(rightClaims(now)))],
    ['__proto__', signTexts(es, '{"__proto__":{"alg":"ES256","kid":"es"}}', JSON.stringify(rightClaims(now)))],
    ['empty', signTexts(es, '{}', JSON.stringify(rightClaims(now)))],
    ['a list', signTexts(es, '[{"alg":"ES256"}]', JSON.stringify(rightClaims(now)))],
    ['a text', signTexts(es, '"ES256"', JSON.stringify(rightClaims(now)))],
    ['a byte order mark', signTexts(es, '\u{feff}{"alg":"ES256","kid":"es"}', JSON.stringify(rightClaims(now)))],
    ['Alg', signTexts(es, '{"Alg":"ES256","kid":"es"}', JSON.stringify(rightClaims(now)))],
  ];
}

function formRows(now: number): Rows {
  const right = made(now);
  const [header = '', claims = '', signature = ''] = right.split('.');
  const flattened = JSON.stringify({ protected: header, payload: claims, signature });
  const general = JSON.stringify({ payload: claims, signatures: [{ protected: header, signature }] });
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // 64 octets leave four bits of the last character unused.
  const lastBits = [1, 2, 8, 15].map((bits) => signature.slice(0, -1) + (alphabet[alphabet.indexOf(signature.at(-1) ?? '') | bits] ?? ''));
  return [
    ['one part', header],
    ['two parts', `${header}.${claims}`],
    ['an empty third part', `${header}.${claims}.`],
    ['four parts', `${right}.${signature}`],
    ['five parts (JWE)', `${header}.${header}.${header}.${claims}.${signature}`],
    [
      'an unsigned token inside of JWE',
      `${base64url('{"alg":"dir","enc":"A256GCM","cty":"JWT"}')}..AAAA.${base64url(`${base64url('{"alg":"none"}')}.${claims}.`)}.AAAA`,
    ],
    ['empty parts', '..'],
    ['a dot before', `.${right}`],
    ['a dot behind', `${right}.`],
    ['flattened JSON', flattened],
    ['general JSON', general],
    ...lastBits.map((other, index): Rows[number] => [`other last bits (${index})`, `${header}.${claims}.${other}`, other === signature]),
    ['padding', `${header}.${claims}.${signature}==`],
    ['padding in the header', `${header}=.${claims}.${signature}`],
    ['a blank before', ` ${right}`],
    ['a blank behind', `${right} `],
    ['a line end behind', `${right}\n`],
    ['a line end inside', `${header}.${claims.slice(0, 20)}\n${claims.slice(20)}.${signature}`],
    ['a blank inside', `${header}.${claims}.${signature.slice(0, 10)} ${signature.slice(10)}`],
    ['a NUL behind', `${right}\u0000`],
    ['Bearer before', `Bearer ${right}`],
    ['quotes around', `"${right}"`],
    ['the standard alphabet', signStandard(now)],
    ['wide dots', right.replaceAll('.', '．')],
    ['percent-encoded', right.replaceAll('.', '%2E')],
    ['17,000 characters', made(now, { fill: 'x'.repeat(13_000) })],
    ['60,000 characters', made(now, { fill: 'x'.repeat(44_000) })],
    ['a letter that is no letter', right.replace('e', 'е')],
    ['a detached payload', `${header}..${signature}`],
  ];
}

/** A token that needs + or / in the standard alphabet. */
function signStandard(now: number): string {
  const token = made(now, { odd: '>>>???~~~ÿÿÿ' });
  return token.replaceAll('-', '+').replaceAll('_', '/');
}

function jsonRows(now: number): Rows {
  const text = JSON.stringify(rightClaims(now));
  const claims = (changed: string | Uint8Array): string => signTexts(es, '{"alg":"ES256","kid":"es"}', changed);
  const open = text.slice(0, -1);
  return [
    ['sub twice', claims(`${open},"sub":"workload"}`)],
    ['sub twice, another first', claims(`{"sub":"other",${text.slice(1)}`)],
    ['sub in two spellings', claims(`${open},"\\u0073ub":"other"}`)],
    ['a nested member twice', claims(`${open},"x":{"a":1,"a":2}}`)],
    ['AUD and ISS for aud and iss', claims(text.replace('"aud"', '"AUD"').replace('"iss"', '"ISS"'))],
    ['a long s in sub', claims(text.replace('"sub"', '"\u017fub"'))],
    ['__proto__ with the claims', claims(`{"__proto__":${text}}`)],
    ['constructor', claims(text.replace('"sub":"workload"', '"constructor":{"sub":"workload"}'))],
    ['a byte order mark', claims(`\u{feff}${text}`)],
    ['UTF-16', claims(Buffer.from(text, 'utf16le'))],
    [
      'octets that are not UTF-8',
      claims(Buffer.concat([Buffer.from(`${open},"x":"`), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')])),
    ],
    ['a NUL behind', claims(`${text}\u0000`)],
    ['text behind', claims(`${text}x`)],
    ['two objects', claims(`${text}${text}`)],
    ['a comma at the end', claims(`${open},}`)],
    ['a comment', claims(`/**/${text}`)],
    ['single quotes', claims(text.replaceAll('"', "'"))],
    ['NaN', claims(`${open},"x":NaN}`)],
    ['a list', claims(`[${text}]`)],
    ['a text', claims(JSON.stringify(text))],
    ['null', claims('null')],
    ['empty', claims('')],
    ['33 levels', claims(`${open},"x":${'['.repeat(32)}${']'.repeat(32)}}`)],
    ['5,000 levels', claims(`${open},"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)],
    ['1,100 members', claims(`${open},${Array.from({ length: 1_100 }, (_, index) => `"m${index}":0`).join(',')}}`)],
  ];
}
