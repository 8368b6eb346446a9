// Signing in to the console with a token or an approle, and signing out.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import { Reply, definePublicEndpoint, type AnyEndpoint, type PublicCall } from '../../../core/http/endpoint.ts';
import { redirectReply } from '../../../core/http/pages/frame.ts';
import { languageOf } from '../../../core/http/pages/language.ts';
import { formatCookie, formatExpiredCookie, formatReturn, sessionCookie } from '../../../core/http/request/cookies.ts';
import type { IssuedSession } from '../../../core/plugin/services/sessions.ts';
import { signInPage, signInPath, type Refused, type SignInView } from '../pages/sign-in.ts';
import { consoleTag } from '../tags.ts';
import type { UnclaimedFingerprint } from './claiming.ts';
import { returnPathOf } from './return-path.ts';
import type { ConsoleSessions } from './sessions.ts';

/** Field names as the page has them. */
const formSchema = z.object({
  way: z.enum(['token', 'approle']).meta({ description: 'What is signed in with.' }),
  token: z.string().max(128).default('').meta({ description: 'A bearer token.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  'role-id': z
    .string()
    .max(128)
    .default('')
    .meta({ description: 'The role-id of an approle.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  'secret-id': z
    .string()
    .max(128)
    .default('')
    .meta({ description: 'One of its secret-ids.', example: '0b1c2d3e-4f50-4162-8374-8596a7b8c9da' }),
});
type Form = z.output<typeof formSchema>;

export function signInEndpoints(sessions: ConsoleSessions, unclaimed: UnclaimedFingerprint): AnyEndpoint[] {
  const view = (call: PublicCall): SignInView => ({
    language: languageOf(call),
    ways: sessions.browsers.ways.filter(({ path }) => path !== signInPath),
    ...defined({ unclaimed: unclaimed() }),
  });
  const page = { access: 'public', tag: consoleTag, produces: 'text/html', page: true } as const;
  return [
    definePublicEndpoint({
      ...page,
      method: 'GET',
      path: signInPath,
      summary: 'Sign in to the console',
      audit: 'none',
      query: { to: 'path of the console to go to afterwards' },
      run(call) {
        const to = returnPathOf(call.query.get('to') ?? '');
        return signInPage(view(call), to === undefined ? {} : { 'set-cookie': formatReturn(to) });
      },
    }),
    definePublicEndpoint<Form, Reply>({
      ...page,
      method: 'POST',
      path: signInPath,
      summary: 'Sign in to the console with a token or an approle',
      consumes: 'application/x-www-form-urlencoded',
      bodyLimit: 4096,
      audit: 'required',
      input: formSchema,
      secretInput: ['token', 'role-id', 'secret-id'],
      errors: ['login-failed', 'rate-limited'],
      run: (call, form) => signIn(sessions, view, call, form),
    }),
    definePublicEndpoint<undefined, Reply>({
      access: 'public',
      tag: consoleTag,
      undescribed: true,
      method: 'POST',
      path: '/ui/sign-out-of-console',
      summary: 'End the session of the console',
      audit: 'required',
      async run(call) {
        const ended = await sessions.signOut(call);
        if (ended !== undefined) {
          const { tenantName: tenant, user, accessor } = ended.caller;
          call.noteAudit({ tenant, user, accessor });
        }
        // A form of another site or port signs nobody out: the session does not end, and the browser does not forget it.
        const forgets = call.headers['sec-fetch-site'] === 'same-origin';
        const headers = forgets ? { 'set-cookie': formatExpiredCookie(sessionCookie) } : {};
        return new Reply(200, defined({ 'provider-page': ended?.providerPage }), headers);
      },
    }),
  ];
}

/** Forms of other sites must not sign anybody in as somebody else: the browser has to say that the form is ours. */
async function signIn(sessions: ConsoleSessions, view: (call: PublicCall) => SignInView, call: PublicCall, form: Form): Promise<Reply> {
  call.noteAudit({ kind: 'login' });
  const refused = (status: number, reason: Refused): Reply => signInPage({ ...view(call), problem: { status, reason, way: form.way } });
  if (call.headers['sec-fetch-site'] !== 'same-origin') {
    call.noteAudit({ code: 'form-of-other-site' });
    return refused(403, 'other-site');
  }
  const previous = sessions.find(call);
  try {
    const issued = await issue(sessions, call, form);
    if (previous !== undefined) await sessions.end(previous.caller);
    const seconds = Math.max(1, Math.floor(call.now.until(issued.expires).total('seconds')));
    return redirectReply('/ui', { 'set-cookie': formatCookie(sessionCookie, revealSecret(issued.token), seconds) });
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.code !== 'login-failed' && error.code !== 'rate-limited')) throw error;
    call.noteAudit({ code: error.code });
    return refused(error.status, error.code);
  }
}

function issue(sessions: ConsoleSessions, call: PublicCall, form: Form): Promise<IssuedSession> {
  const { way, token, 'role-id': roleId, 'secret-id': secretId } = form;
  const { browsers, ttlSeconds } = sessions;
  return way === 'token'
    ? browsers.withToken(call, token.trim(), ttlSeconds)
    : browsers.withApprole(call, { roleId: roleId.trim(), secretId: secretId.trim() });
}
