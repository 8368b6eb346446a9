// The `test` action: fetches the keys of an issuer now, and says which of them verify, which do not, and what to fix.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { defineEndpoint, type AnyEndpoint } from '../../../core/http/endpoint.ts';
import { requireTold } from '../../../core/http/checks/told.ts';
import { type Jwt, requireIssuer } from '../context.ts';
import { fetchKeys, reasonForAdministrators } from '../keys/fetch-keys.ts';
import type { LocatedIssuer } from '../keys/issuer-keys.ts';
import { readStaticKeys, type SkippedKey, type StoredJwk } from '../keys/key-set.ts';
import { jwtTag } from '../tags.ts';
import { algorithmNames, keyTypeOf } from '../../../core/identity/signature-algorithms.ts';

const findingOutput = z.object({
  level: z.enum(['error', 'warning']).meta({ typeName: 'FindingLevel' }).describe('`error` where logins fail because of it.'),
  message: z.string().meta({ description: 'What is wrong.', example: 'The key set has no key for an algorithm that the issuer allows.' }),
});
type Finding = z.output<typeof findingOutput>;

const output = z.object({
  usable: z.boolean().describe('`true` if logins can work.'),
  findings: z.array(findingOutput).describe('What is wrong, errors first.'),
  keys: z
    .array(
      z.object({
        kid: z.string().optional().meta({ description: 'Key id.', example: '2026-11' }),
        kty: z.string().meta({ description: 'Key type.', example: 'RSA' }),
        crv: z.string().optional().meta({ description: 'Curve.', example: 'P-256' }),
        alg: z.string().optional().meta({ description: 'The one algorithm it is for.', example: 'RS256' }),
      }),
    )
    .describe('Keys that verify tokens.'),
  skipped: z
    .array(
      z.object({
        kid: z.string().optional().meta({ description: 'Key id.', example: '2019-01' }),
        reason: z
          .string()
          .meta({ description: 'Why it is not used: a sentence that begins with "The key".', example: 'is for another use (enc)' }),
      }),
    )
    .describe('Other keys of the set.'),
  clockDifferenceSeconds: z
    .number()
    .optional()
    .meta({ description: "Seconds the issuer's clock is ahead of the appliance's, by its Date header.", example: 0.4 }),
});
type Report = z.output<typeof output>;

const told = ['issuer', 'algorithms', 'discovery-url', 'jwks-url', 'static-keys', 'provider-hosts', 'use-root-ca-certs', 'ca-certs'];

export function testIssuerEndpoint(jwt: Jwt): AnyEndpoint {
  return defineEndpoint<Record<string, never>, Report, LocatedIssuer>({
    method: 'POST',
    path: '/v1/state/keystore/authentication/jwt/{name}/test',
    summary: 'Fetch the keys of an issuer and say what is wrong',
    idempotent: true,
    description:
      'Faults are in `findings` of an answer 200. The keys that logins use are fetched again as well. Refused where policies hide what it tells of the issuer.',
    tag: jwtTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    input: z.object({}),
    output,
    find: (call) => requireIssuer(jwt, call),
    async run(call, _input, located) {
      requireTold(call, [{ path: ['keystore', 'authentication', 'jwt', located.issuer], fields: told, is: 'the issuer' }]);
      return examine(jwt, located);
    },
  });
}

/** Keys for logins are fetched again by a test this often at most. */
const refreshedSeconds = 10;

async function examine(jwt: Jwt, located: LocatedIssuer): Promise<Report> {
  const { record } = located;
  if (record.staticKeys !== undefined) return reportOf(located, readStaticKeys(record.staticKeys), [], []);
  try {
    const { keys, skipped, date } = await fetchKeys(record, jwt.openOutbound(located), jwt.allowHttpLoopback);
    await jwt.issuerKeys.refresh(located, refreshedSeconds);
    const atMs = Date.parse(date ?? '');
    const difference = Number.isNaN(atMs) ? undefined : Math.round((atMs - jwt.clock.now().epochMilliseconds) / 1_000);
    const findings: Finding[] =
      difference === undefined || Math.abs(difference) <= 30
        ? []
        : [
            {
              level: 'warning',
              message: `The issuer’s clock differs by ${difference} s: set both clocks by NTP; clock-tolerance bridges up to 60s.`,
            },
          ];
    return { ...reportOf(located, keys, skipped, findings), ...defined({ clockDifferenceSeconds: difference }) };
  } catch (error) {
    return { usable: false, findings: [{ level: 'error', message: reasonForAdministrators(error) }], keys: [], skipped: [] };
  }
}

function reportOf(
  { record }: LocatedIssuer,
  keys: readonly StoredJwk[],
  skipped: readonly SkippedKey[],
  findings: readonly Finding[],
): Report {
  const algorithms = algorithmNames.filter((name) => record.algorithms.includes(name));
  const isUsable = keys.some(({ kty, crv, alg }) =>
    algorithms.some((name) => {
      const wanted = keyTypeOf(name);
      return wanted.kty === kty && (wanted.crv === undefined || wanted.crv === crv) && (alg === undefined || alg === name);
    }),
  );
  const errors: Finding[] = isUsable ? [] : [{ level: 'error', message: problemOf(keys, skipped, algorithms) }];
  return {
    usable: isUsable,
    findings: [...errors, ...findings],
    keys: keys.map(({ kid, kty, crv, alg }) => ({ kty, ...defined({ kid, crv, alg }) })),
    skipped: skipped.map(({ kid, reason }) => ({ reason, ...defined({ kid }) })),
  };
}

/** The reason for which no key of a set is for the tokens of the issuer. */
function problemOf(keys: readonly StoredJwk[], skipped: readonly SkippedKey[], algorithms: readonly string[]): string {
  if (keys.length > 0)
    return `No key is for an algorithm that the issuer allows (${algorithms.join(', ')}): add the one that its tokens name to "algorithms".`;
  return skipped.length > 0
    ? 'Every key of the set is skipped, each for the reason beside it: nobody can log in.'
    : 'The key set is empty: nobody can log in until the issuer has keys there.';
}
