// The start of a login: the page that asks for tenant and provider, and the redirect to the provider.
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall, type Reply } from '../../../core/http/endpoint.ts';
import { redirectReply } from '../../../core/http/pages/frame.ts';
import { prove } from '../attempts.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { findCookie, formatCookie } from '../../../core/http/request/cookies.ts';
import { bindingCookie, findLastTenant } from '../session/cookies.ts';
import { authorizationUrl, openProvider, clientSettings } from '../provider/token-exchange.ts';
import { LoginFailure } from '../failures.ts';
import type { Limiter } from '../limiter.ts';
import { type Prompt } from '../records/sign-ins.ts';
import { noTenantId, type Located, type Oidc } from '../context.ts';
import { languageOf, type Language } from '../../../core/http/pages/language.ts';
import { providersPage, tenantPage } from '../pages/login.ts';
import { answerWithPage, type Attempt } from '../report.ts';
import { scopesOf } from '../records/role-record.ts';
import { chooseRedirectUri, providerName } from '../records/service-record.ts';
import { isExpired, pendingSeconds } from '../records/under-way.ts';
import { pagesTag } from '../tags.ts';
import { hashOf } from '../../../core/base/hash.ts';

export function startEndpoints(oidc: Oidc, limiter: Limiter): AnyEndpoint[] {
  const page = { method: 'GET', access: 'public', tag: pagesTag, produces: 'text/html', page: true } as const;
  return [
    definePublicEndpoint({
      ...page,
      path: '/',
      summary: 'Leads to the signed-in page',
      audit: 'none',
      yields: true,
      run: () => redirectReply('/ui'),
    }),
    definePublicEndpoint({
      ...page,
      path: '/login',
      summary: 'Choose tenant and identity provider',
      audit: 'none',
      errors: ['rate-limited'],
      query: { tenant: 'name of the tenant; without it the page asks for it' },
      run: (call) => answerWithPage(oidc, call, () => chooseProvider(oidc, call)),
    }),
    definePublicEndpoint({
      ...page,
      path: '/login/{tenant}/{service}',
      summary: 'Go to the identity provider',
      audit: 'required',
      noHead: true,
      query: {
        request: 'the command-line request this sign-in is for',
        iss: 'the issuer that sent the person here (OpenID Connect Core section 4); must be that of the service',
        login_hint: 'who is signing in; passed on to the provider',
        prompt: '`select_account`: the provider asks for the account; `login`: it asks for the credentials',
      },
      errors: ['rate-limited'],
      run: (call) => answerWithPage(oidc, call, (attempt) => prove(oidc, call, () => startLogin(oidc, limiter, call, attempt))),
    }),
  ];
}

/** Offers the tenant of the last sign-in, if the query has none; an empty one asks for a name. */
function chooseProvider(oidc: Oidc, call: PublicCall): Reply | Promise<Reply> {
  const asked = call.query.get('tenant')?.trim();
  if (asked === undefined || asked === '') {
    const others = oidc.accounts.browsers.ways.filter(({ path }) => path !== '/login');
    return tenantPage(languageOf(call), asked === undefined ? findLastTenant(call) : undefined, oidc.publicUrl, others);
  }
  return prove(oidc, call, () => choosePage(oidc, languageOf(call), asked));
}

/** An unknown tenant and one without providers get the same answer, after the same look-ups (R11). */
function choosePage(oidc: Oidc, language: Language, tenantName: string): Reply {
  const tenant = oidc.accounts.findTenant(tenantName);
  const services = [...oidc.services.entries([tenant?.id ?? noTenantId])].map(([, record]) => record);
  if (tenant === undefined || services.length === 0) throw noSuchProvider();
  const choices = services.map((record) => ({ service: record.name, displayName: providerName(record) }));
  choices.sort((left, right) => left.displayName.localeCompare(right.displayName, 'en'));
  return providersPage(language, tenant.name, choices);
}

/** Makes and stores the secrets of a login, and sends the browser to the provider. */
async function startLogin(oidc: Oidc, limiter: Limiter, call: PublicCall, attempt: Attempt): Promise<Reply> {
  const located = oidc.locate(call.params['tenant'] ?? '', call.params['service'] ?? '');
  if (located === undefined) throw noSuchProvider();
  limiter.require(call.clientIp, located.tenantId);
  attempt.located = located;
  const cliLogin = requireCliLogin(oidc, call, located);
  const { record, tenantId, service } = located;
  const outbound = oidc.openOutbound(located);
  attempt.outbounds.push(outbound);
  const metadata = await oidc.metadataOf(located, outbound);
  requireInitiator(call, metadata.issuer);
  const provider = openProvider(metadata, clientSettings(record, oidc.allowHttpLoopback), outbound, oidc.clock);
  const redirectUri = chooseRedirectUri(record.allowedRedirectUris, oidc.publicUrl);
  const random = await oidc.hsm.random(128);
  const [state, nonce, codeVerifier, fresh] = [0, 32, 64, 96].map((from) =>
    Buffer.from(random.subarray(from, from + 32)).toString('base64url'),
  ) as [string, string, string, string];
  const scopes = scopesOf(oidc.rolesOf(tenantId, service));
  const location = await authorizationUrl(provider, redirectUri, scopes, { state, nonce, codeVerifier });
  const hint = call.query.get('login_hint');
  if (hint !== undefined) location.searchParams.set('login_hint', showableText(hint));
  const prompt = choosePrompt(call, metadata.prompt_values_supported);
  if (prompt !== undefined) location.searchParams.set('prompt', prompt);
  const cookie = readBindingCookie(call) ?? fresh;
  await oidc.store.write((transaction) =>
    oidc.pending.add(transaction, hashOf(state), {
      tenantId,
      tenantName: located.tenantName,
      service,
      revision: record.revision,
      redirectUri,
      nonce,
      codeVerifier,
      binding: hashOf(cookie),
      createdMs: call.now.epochMilliseconds,
      clientIp: call.clientIp,
      ...defined({ handOff: cliLogin, prompt }),
    }),
  );
  call.noteAudit({ tenant: located.tenantName, requestParameters: { service } });
  return redirectReply(location.href, { 'set-cookie': formatCookie(bindingCookie, cookie, pendingSeconds) });
}

/** Reuses the value over concurrent logins: a new one per start would break the login in another tab. */
function readBindingCookie(call: PublicCall): string | undefined {
  const value = findCookie(call, bindingCookie);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** A sign-in started by a provider (OpenID Connect Core section 4) names its issuer, which must be that of the service. */
function requireInitiator(call: PublicCall, issuer: string): void {
  const named = call.query.get('iss');
  if (named !== undefined && named !== issuer) throw new LoginFailure('no-such-provider', 'authorize', 'iss-mismatch');
}

/** The CLI login in the URL must be waiting, and for this service. */
function requireCliLogin(oidc: Oidc, call: PublicCall, located: Located): string | undefined {
  const id = call.query.get('request');
  if (id === undefined) return undefined;
  const cliLogin = oidc.cliLogins.get(id);
  const fits = cliLogin?.tenantId === located.tenantId && cliLogin.service === located.service && cliLogin.step === 'waiting';
  if (!fits || isExpired(cliLogin, call.now.epochMilliseconds)) {
    throw new LoginFailure('login-expired', 'authorize', 'no-such-request');
  }
  return id;
}

/**
 * Chooses a prompt: without one the provider silently uses the account that is signed in there. Few providers list the values they support.
 */
function choosePrompt(call: PublicCall, supported: readonly string[] | undefined): Prompt | undefined {
  const asked = call.query.get('prompt');
  if (asked === undefined) return undefined;
  if (asked !== 'select_account' && asked !== 'login') throw fail('invalid-value', { detail: 'prompt is select_account or login.' });
  return ([asked, 'login'] as const).find((prompt) => supported?.includes(prompt) ?? true);
}

function noSuchProvider(): LoginFailure {
  return new LoginFailure('no-such-provider', 'authorize', 'unknown');
}
