// The first hour of an appliance: what its administrator does once, ticked by what the appliance says about it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { account, facts } from '../../api/session.ts';
import { caAddress, caFile } from '../../commands/commands.ts';
import type { Catalog } from '../../description/catalog.ts';
import { saveFile } from '../../marks/save-button.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { send } from '../../api/request.ts';
import { firstHourOf, type Facts, type Step } from './first-hour.ts';

const paths = {
  services: '/v1/config/keystore/authentication/oidc',
  tokens: '/v1/state/keystore/tokens',
  backups: '/v1/state/system/backup-status',
  drill: '/v1/state/system/restore-drill',
} as const;

const words = {
  title: 'First hour',
  done: (done: number, all: number): string => `${done} of ${all} done`,
  hide: 'Hide this list',
  save: 'Save ca.pem',
  steps: {
    ca: ['Save the CA of this appliance', 'Programs and browsers trust it by this file. Keep it where they are set up.'],
    'sign-in': ['Connect a sign-in', 'People sign in with the accounts that they have, and leave when those end.'],
    second: [
      'Let a second administrator sign in',
      'One person can be ill, or gone. This is ticked while two people hold sessions or tokens.',
    ],
    backup: ['Make a backup, or name where backups go', 'Nothing else brings the keys back.'],
    drill: ['Try a restore', 'A backup that was never restored is a hope: run a restore drill.'],
    root: ['Put the root token away', 'Sign in as yourself, end the sessions of root, and lock its token up.'],
  },
} as const satisfies { readonly steps: Readonly<Record<Step, readonly [what: string, why: string]>> } & Readonly<Record<string, unknown>>;

const links: Readonly<Partial<Record<Step, readonly [path: string, text: string]>>> = {
  'sign-in': [paths.services, 'Sign-in services'],
  second: [paths.tokens, 'Sessions and tokens'],
  backup: [paths.backups, 'Backups'],
  drill: [paths.backups, 'Restore drill'],
  root: [paths.tokens, 'Sessions and tokens'],
};

/** Steps that only a person knows to be done, kept in this browser. */
const kept = 'keystored-first-hour';

/** `unknown` until the appliance has said enough; undefined where there is nothing to show. */
export type FirstHours = 'unknown' | { readonly facts: Omit<Facts, 'ticked'> } | undefined;

/** Facts for the list. They are asked before the page is drawn, so that nothing moves down when they come. */
export function useFirstHour(catalog: Catalog): FirstHours {
  const hasAll = Object.values(paths).every((path) => catalog.at(path) !== undefined);
  const said = Object.values(paths).map((path) => (hasAll ? may('read', path).value : undefined));
  const isWanted = hasAll && facts.unclaimed === undefined && !readTicked().includes('hidden');
  const isOffered = isWanted && account.value?.tenant === 'system' && said.every((one) => one === 'yes');
  const services = useLoaded(isOffered ? { method: 'GET', path: paths.services, query: { keys: 'true', limit: '1' } } : undefined).value;
  const tokenQuery = { limit: '100', fields: 'user-kind,identity,session/address' };
  const tokens = useLoaded(isOffered ? { method: 'GET', path: paths.tokens, query: tokenQuery } : undefined).value;
  const backups = useLoaded(isOffered ? { method: 'GET', path: paths.backups } : undefined).value;
  const drill = useLoaded(isOffered ? { method: 'GET', path: paths.drill } : undefined).value;
  // Nothing waits for people who may not look at all of it: their account may be hidden from them, too.
  if (!isWanted || said.some((one) => typeof one === 'object')) return undefined;
  if (said.includes('unknown') || account.value === undefined) return 'unknown';
  if (!isOffered) return undefined;
  const all = [services, tokens, backups, drill];
  if (all.some(({ state }) => state === 'loading')) return 'unknown';
  if (services.state !== 'there' || tokens.state !== 'there' || backups.state !== 'there' || drill.state !== 'there') return undefined;
  return {
    facts: {
      services: (services.answer.body as readonly unknown[]).length,
      tokens: tokens.answer.body as Facts['tokens'],
      backups: backups.answer.body as Facts['backups'],
      isDrilled: (drill.answer.body as { readonly 'last-good'?: object })['last-good'] !== undefined,
    },
  };
}

export function FirstHour({ facts }: { readonly facts: Omit<Facts, 'ticked'> }): ComponentChildren {
  const ticked = useSignal<readonly string[]>(readTicked());
  const error = useSignal<unknown>(undefined);
  const steps = firstHourOf({ ...facts, ticked: ticked.value });
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length || ticked.value.includes('hidden')) return null;
  const tick = (step: string): void => {
    ticked.value = [...ticked.value, step];
    keepTicked(ticked.value);
  };
  const saveCa = async (): Promise<void> => {
    try {
      const { body } = await send({ method: 'GET', path: caAddress });
      saveFile(String(body), caFile);
      tick('ca');
    } catch (thrown) {
      error.value = thrown;
    }
  };
  return (
    <section class="card" aria-labelledby="first-hour">
      <div class="card-head">
        <h2 id="first-hour">{words.title}</h2>
        <span class="quiet">{words.done(done, steps.length)}</span>
      </div>
      {error.value !== undefined && <Problem error={error.value} />}
      <ol class="steps">
        {steps.map(({ step, isDone }) => {
          const [what, why] = words.steps[step];
          const link = links[step];
          return (
            <li key={step} class={isDone ? 'done' : ''}>
              <span class="step-mark" aria-hidden="true">
                {isDone ? '✓' : ''}
              </span>
              <div>
                <strong>{what}</strong>
                <span class="unseen">{isDone ? ': done' : ': open'}</span>
                {!isDone && <p class="quiet">{why}</p>}
              </div>
              {!isDone && (
                <div class="buttons">
                  {step === 'ca' && (
                    <button type="button" onClick={() => void saveCa()}>
                      {words.save}
                    </button>
                  )}
                  {link !== undefined && (
                    <a class="button" href={hrefOf(link[0])}>
                      {link[1]}
                    </a>
                  )}
                </div>
              )}
            </li>
          );
        })}
      </ol>
      <div class="buttons">
        <button type="button" class="link" onClick={() => tick('hidden')}>
          {words.hide}
        </button>
      </div>
    </section>
  );
}

function readTicked(): readonly string[] {
  try {
    return (localStorage.getItem(kept) ?? '').split(' ').filter((one) => one !== '');
  } catch {
    return [];
  }
}

function keepTicked(all: readonly string[]): void {
  try {
    localStorage.setItem(kept, [...new Set(all)].join(' '));
  } catch {
    // A browser may forbid it: then it is so for this page.
  }
}
