// Endpoints for command lines: request a login, poll for its token once it is approved, and log out (modelled on RFC 8628).
import { grantsOf } from '../records/role-record.ts';
import { z } from 'zod';
import { timestamp } from '../../../core/wire/fields.ts';
import { defineEndpoint, definePublicEndpoint, type AnyEndpoint, type PublicCall, type Reply } from '../../../core/http/endpoint.ts';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import type { IssuedSession } from '../../../core/plugin/services/sessions.ts';
import { noteFailure, prove } from '../attempts.ts';
import { stillHolds } from '../session/browser-session.ts';
import { failOidc, pollErrors } from '../failures.ts';
import type { Limiter } from '../limiter.ts';
import { endSession } from '../records/end-session.ts';
import { type CliLogin, type Identity, identityOf, userFields } from '../records/sign-ins.ts';
import type { Oidc } from '../context.ts';
import { loginPath } from '../pages/login.ts';
import { problemReply } from '../report.ts';
import { chooseRedirectUri, sessionSeconds } from '../records/service-record.ts';
import { isExpired, pendingSeconds } from '../records/under-way.ts';
import { tags } from '../../../core/http/tags.ts';
import { hashOf } from '../../../core/base/hash.ts';

const intervalSeconds = 2;
/** Most poll tokens whose last poll is remembered; the one not seen for the longest time is dropped first. */
const maxLastPolls = 10_000;

const askInput = z.object({
  tenant: z.string().min(1).max(128).meta({ description: 'Name of the tenant.', example: 'system' }),
  service: z.string().min(1).max(128).meta({ description: 'Name of the OIDC service.', example: 'my-oidc-service' }),
});
const askOutput = z.object({
  loginUrl: z
    .string()
    .meta({ description: 'Where the person signs in.', example: 'https://localhost:4646/login/system/my-oidc-service?request=…' }),
  userCode: z.string().meta({ description: 'What the person compares there.', example: 'BCDF-GHJK' }),
  pollToken: z.string().meta({ description: 'Fetches the token.', example: '1pUaZl3mV5c' }),
  interval: z.int().meta({ description: 'Seconds between two attempts to fetch it.', example: 2 }),
  expiresIn: z.int().meta({ description: 'Seconds until it is too late.', example: 600 }),
});
const pollInput = z.object({
  pollToken: z.string().min(1).max(128).meta({ description: 'As the request for a sign-in was answered.', example: '1pUaZl3mV5c' }),
});
const pollOutput = z.object({
  token: z.string().meta({ description: 'The token; it is shown this once.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  accessor: z.string().meta({
    description: 'Stands for the token where the token itself must not be seen.',
    example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
  }),
  policies: z.array(z.string()).describe('What it may do.'),
  expiresIn: z.int().meta({ description: 'Seconds until it ends.', example: 28800 }),
  expires: timestamp().describe('When it ends.'),
  creationTime: timestamp().describe('When it was made.'),
});

export function commandLineEndpoints(oidc: Oidc, limiter: Limiter): AnyEndpoint[] {
  /** time of the last use, by hash of the poll token; per worker, not a protection */
  const lastPolls = new Map<string, number>();
  const shared = { method: 'POST', access: 'public', tag: tags.logins, audit: 'required' } as const;
  return [
    definePublicEndpoint<z.output<typeof askInput>, z.output<typeof askOutput>>({
      ...shared,
      path: '/v1/oidc-login',
      summary: 'Ask for a sign-in that a person finishes in a browser',
      description:
        'For programs without a browser: a person opens `login-url`, compares `user-code` and signs in; the program asks /v1/oidc-login/poll with `poll-token` meanwhile.',
      input: askInput,
      output: askOutput,
      auditFields: ['tenant', 'service'],
      secretOutput: ['pollToken'],
      errors: ['no-such-provider', 'rate-limited'],
      run: (call, { tenant, service }) => prove(oidc, call, () => ask(oidc, limiter, call, tenant, service)),
    }),
    definePublicEndpoint<z.output<typeof pollInput>, z.output<typeof pollOutput>>({
      ...shared,
      path: '/v1/oidc-login/poll',
      summary: 'Fetch the token of a sign-in, once it is approved',
      operationId: 'oidcLoginPoll',
      description: 'Until then 400 with `authorization-pending`; the member `error` carries the same in the spelling of RFC 8628.',
      input: pollInput,
      output: pollOutput,
      secretInput: ['pollToken'],
      secretOutput: ['token'],
      errors: [...Object.keys(pollErrors), 'rate-limited'],
      run: (call, { pollToken }) => poll(oidc, call, hashOf(pollToken), lastPolls),
    }),
    defineEndpoint({
      method: 'POST',
      path: '/v1/logout',
      act: 'none',
      summary: 'End the own token, and with it its session',
      description: 'The token ends at once, with the tokens that it made. A token that ended already is answered 401.',
      tag: tags.logins,
      access: 'token',
      operation: 'execute',
      audit: 'required',
      async run(call) {
        const { tenantId, accessor } = call.caller;
        await oidc.store.write((transaction) => {
          const session = transaction.get(oidc.sessions, [tenantId, accessor]);
          if (session === undefined) oidc.accounts.disable(transaction, tenantId, accessor);
          else endSession(transaction, oidc, oidc.accounts, [tenantId, accessor], session);
        });
        return undefined;
      },
    }),
  ];
}

async function ask(
  oidc: Oidc,
  limiter: Limiter,
  call: PublicCall,
  tenantName: string,
  service: string,
): Promise<z.output<typeof askOutput>> {
  const located = oidc.locate(tenantName, service);
  if (located === undefined) throw failOidc('no-such-provider', { detail: 'Check the names of tenant and service.' });
  limiter.require(call.clientIp, located.tenantId);
  const pollToken = Buffer.from(await oidc.hsm.random(32)).toString('base64url');
  const userCode = formatUserCode(await oidc.hsm.random(64));
  const id = hashOf(pollToken);
  const { tenantId, record } = located;
  await oidc.store.write((transaction) =>
    oidc.cliLogins.add(transaction, id, {
      tenantId,
      tenantName: located.tenantName,
      service,
      revision: record.revision,
      userCode,
      createdMs: call.now.epochMilliseconds,
      clientIp: call.clientIp,
      userAgent: call.userAgent,
      step: 'waiting',
    }),
  );
  const { origin } = new URL(chooseRedirectUri(record.allowedRedirectUris, oidc.publicUrl));
  const loginUrl = `${origin}${loginPath(located.tenantName, service)}?request=${id}`;
  return { loginUrl, userCode, pollToken, interval: intervalSeconds, expiresIn: pendingSeconds };
}

/** Eight consonants in two groups (RFC 8628 section 6.1): easy to compare, no words. Octets from 240 up are skipped, for no bias. */
function formatUserCode(random: Uint8Array): string {
  const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
  const letters = [...random].filter((octet) => octet < 240).map((octet) => alphabet[octet % alphabet.length]);
  return `${letters.slice(0, 4).join('')}-${letters.slice(4, 8).join('')}`;
}

async function poll(
  oidc: Oidc,
  call: PublicCall,
  id: string,
  lastPolls: Map<string, number>,
): Promise<z.output<typeof pollOutput> | Reply> {
  const cliLogin = oidc.cliLogins.get(id);
  if (cliLogin === undefined || isExpired(cliLogin, call.now.epochMilliseconds)) {
    await noteFailure(oidc, call);
    return refusal(call, 'expired-token');
  }
  if (cliLogin.step === 'denied') {
    await oidc.store.write((transaction) => oidc.cliLogins.remove(transaction, id));
    return refusal(call, 'access-denied');
  }
  if (cliLogin.step !== 'approved') return refusal(call, isTooFast(oidc, id, lastPolls) ? 'slow-down' : 'authorization-pending');
  lastPolls.delete(id);
  const delivered = await deliver(oidc, id, await oidc.accounts.drawToken());
  if (delivered === undefined) return refusal(call, 'expired-token');
  const { issued, identity, cliLogin: approved } = delivered;
  const { service, tenantName } = approved;
  const requestParameters = {
    service,
    issuer: identity.issuer,
    subject: identity.subject,
    roles: identity.roles,
    'token-policies': identity.policies,
  };
  const user = userFields(identity.username, service);
  call.noteAudit({
    kind: 'login',
    tenant: tenantName,
    ...user,
    identity: identityOf(identity),
    accessor: issued.accessor,
    requestParameters,
  });
  return {
    token: revealSecret(issued.token),
    accessor: issued.accessor,
    policies: [...identity.policies],
    expiresIn: Math.round(issued.creationTime.until(issued.expires).total('seconds')),
    expires: issued.expires,
    creationTime: issued.creationTime,
  };
}

type Delivery = { readonly issued: IssuedSession; readonly identity: Identity; readonly cliLogin: CliLogin };

/** Issues the token and deletes the request in one transaction: of two concurrent polls one gets it. */
function deliver(oidc: Oidc, id: string, token: Secret<string>): Promise<Delivery | undefined> {
  return oidc.store.write((transaction) => {
    const cliLogin = oidc.cliLogins.read(transaction, id);
    if (cliLogin?.step !== 'approved' || cliLogin.identity === undefined) return undefined;
    oidc.cliLogins.remove(transaction, id);
    const { tenantId, service, identity } = cliLogin;
    const record = transaction.get(oidc.services, [tenantId, service]);
    if (record === undefined || !stillHolds(transaction, oidc, { ...cliLogin, ...identity })) return undefined;
    const ttlSeconds = sessionSeconds(record);
    const { username: user, policies } = identity;
    const issued = oidc.accounts.issue(transaction, token, {
      tenantId,
      user,
      identity: identityOf(identity),
      grants: grantsOf(transaction, oidc.roles, { tenantId, service, names: identity.roles }),
      service,
      policies,
      ttlSeconds,
    });
    transaction.put(oidc.sessions, [tenantId, issued.accessor], { ...identity, service, expiresMs: issued.expires.epochMilliseconds });
    return { issued, identity, cliLogin };
  });
}

function isTooFast(oidc: Oidc, id: string, lastPolls: Map<string, number>): boolean {
  const nowMs = oidc.clock.monotonicMs();
  const lastMs = lastPolls.get(id);
  lastPolls.set(id, nowMs);
  const [oldest] = lastPolls.keys();
  if (lastPolls.size > maxLastPolls && oldest !== undefined) lastPolls.delete(oldest);
  // 10 % less than announced, because clocks and networks are not exact.
  return lastMs !== undefined && nowMs - lastMs < intervalSeconds * 900;
}

/** The usual error body, with the member `error` as clients of RFC 8628 expect it. */
function refusal(call: PublicCall, code: keyof typeof pollErrors): Reply {
  call.noteAudit({ code });
  return problemReply(call, code, { detail: pollErrors[code].when }, { error: code.replaceAll('-', '_') });
}
