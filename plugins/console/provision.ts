// Additions of the console to the appliance, loaded by processes that serve: the page of the application, its files, and the sign-in.
import { fileURLToPath } from 'node:url';
import { defined } from '../../core/base/defined.ts';
import { fail } from '../../core/base/errors.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall, type Reply } from '../../core/http/endpoint.ts';
import { redirectReply } from '../../core/http/pages/frame.ts';
import { languageOf } from '../../core/http/pages/language.ts';
import { findReturn, noReturn } from '../../core/http/request/cookies.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import type { Config } from './config.ts';
import { Assets, assetsPath } from './pages/assets.ts';
import { notBuiltPage, shellPage, type ShellFacts } from './pages/shell.ts';
import { signInPath } from './pages/sign-in.ts';
import { unclaimedFingerprint, type UnclaimedFingerprint } from './session/claiming.ts';
import { returnPathOf } from './session/return-path.ts';
import { ConsoleSessions } from './session/sessions.ts';
import { signInEndpoints } from './session/sign-in.ts';
import { consoleTag } from './tags.ts';

/** Pages, sign-in, the scheme of its requests, and the job that ends idle sessions. */
export function provision(context: PluginContext<Config>): PluginInstance {
  const sessions = new ConsoleSessions(context);
  sessions.browsers.offer({ path: signInPath, title: { en: 'a token or an approle', de: 'einem Token oder einer AppRole' } });
  const unclaimed = unclaimedFingerprint(sessions.browsers, context.service(listenersService));
  const assets = Assets.read(fileURLToPath(new URL('./built', import.meta.url)));
  return {
    endpoints: [...pageEndpoints(sessions, assets, unclaimed), ...signInEndpoints(sessions, unclaimed)],
    schemes: [sessions.scheme],
    jobs: [
      {
        name: 'console: end idle sessions',
        everySeconds: 60,
        run: (signal) => sessions.dropStale(context.clock.now().epochMilliseconds, signal),
      },
    ],
  };
}

function pageEndpoints(sessions: ConsoleSessions, assets: Assets | undefined, unclaimed: UnclaimedFingerprint): AnyEndpoint[] {
  const page = { method: 'GET', access: 'public', tag: consoleTag, produces: 'text/html', page: true, audit: 'none' } as const;
  // The first load after a sign-in is given the second secret: a GET with an effect.
  const shell = { ...page, noHead: true, anyQuery: true } as const;
  const run = (call: PublicCall): Reply | Promise<Reply> =>
    assets === undefined ? notBuiltPage() : showShell(sessions, assets, unclaimed, call);
  return [
    definePublicEndpoint({ ...page, path: '/', summary: 'Leads to the console', run: () => redirectReply('/ui') }),
    definePublicEndpoint({ ...shell, path: '/ui', summary: 'The console', run }),
    definePublicEndpoint({ ...shell, path: '/ui/v1', summary: 'The console', run }),
    definePublicEndpoint({ ...shell, path: '/ui/v1/{path*}', summary: 'The console, at an address of the API', run }),
    definePublicEndpoint({
      ...page,
      path: '/ui/open',
      summary: 'Page that opens a hand-over, whose token is behind the number sign of its address',
      // For people without an account: the page gets no session, and no secret of one.
      run: (call) => (assets === undefined ? notBuiltPage() : applicationPage(assets, call, { 'idle-seconds': sessions.idleSeconds })),
    }),
    definePublicEndpoint<undefined, Reply>({
      ...page,
      path: `${assetsPath}/{file}`,
      summary: 'A file of the console',
      run(call) {
        const file = assets?.find(call.params['file'] ?? '');
        if (file === undefined) throw fail('not-found', { detail: 'There is no such file; after an update, load the page again.' });
        return file.answer(call);
      },
    }),
  ];
}

/** The application needs a session, whose second secret its first load is given. */
async function showShell(sessions: ConsoleSessions, assets: Assets, unclaimed: UnclaimedFingerprint, call: PublicCall): Promise<Reply> {
  const session = sessions.find(call);
  const path = call.params['path'] === undefined ? '' : `/v1/${call.params['path'].split('/').map(encodeURIComponent).join('/')}`;
  if (session === undefined) return redirectReply(path === '' ? signInPath : `${signInPath}?to=${encodeURIComponent(`/ui${path}`)}`);
  const kept = path === '' ? findReturn(call) : undefined;
  const wanted = returnPathOf(kept ?? '');
  if (wanted !== undefined) return redirectReply(wanted, { 'set-cookie': noReturn });
  // Only a page that the browser shows gets the secret, not what another page fetches or embeds.
  const secret = call.headers['sec-fetch-dest'] === 'document' ? await sessions.handOver(session, call.now) : undefined;
  const account = sessions.accountPage(session.caller);
  // The application takes its secret first: the page of the account would lose it.
  const next = kept !== undefined && kept === account ? account : undefined;
  const facts = { 'idle-seconds': sessions.idleSeconds, ...defined({ secret, account, next, unclaimed: unclaimed() }) };
  return applicationPage(assets, call, facts, kept === undefined ? {} : { 'set-cookie': noReturn });
}

/** The application in the language of the person. */
function applicationPage(assets: Assets, call: PublicCall, facts: ShellFacts, headers: Readonly<Record<string, string>> = {}): Reply {
  const language = languageOf(call);
  return shellPage(language, assets.in[language], facts, headers);
}
