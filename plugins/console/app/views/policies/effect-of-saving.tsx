// Changes that saving a policy makes, before it is saved: what is allowed more or less, who has the policy, and the same for one of their tokens.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { requireReadable } from '../../api/may.ts';
import { send } from '../../api/request.ts';
import type { Catalog } from '../../description/catalog.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';
import { locale, said } from '../../language/language.ts';
import { useHolders, type Holders, type Token } from './holders.ts';
import { deedsOf, differenceOf, judgeOf, reachOf, type Difference, type Named } from './judged.ts';
import { Matrix } from './matrix.tsx';
import type { Policy } from './policy-draft.ts';

/** `name`: undefined for a policy that is not made yet, which nobody has. */
type EffectProps = { readonly catalog: Catalog; readonly name: string | undefined; readonly before: Policy; readonly after: Policy };

/** Sentences that are shown of each kind. */
const mostShown = 12;

export function EffectOfSaving({ catalog, name: kept, before, after }: EffectProps): ComponentChildren {
  const holders = useHolders(kept).value;
  const name = kept ?? 'this policy';
  const chosen = useSignal<Token | undefined>(undefined);
  const others = useOthers(chosen.value, name);
  const [was, will] = [
    [...others, { name, policy: before }],
    [...others, { name, policy: after }],
  ];
  const text = JSON.stringify([was, will]);
  const {
    deeds,
    after: judge,
    difference,
  } = useMemo(() => {
    const found = deedsOf(catalog, [...was, ...will]);
    return { deeds: found, after: judgeOf(will), difference: differenceOf(found, reachOf(was), reachOf(will)) };
  }, [text]);
  return (
    <section class="card" aria-labelledby="effect-title">
      <h2 id="effect-title">What saving changes</h2>
      {holders !== undefined && <Affected holders={holders} chosen={chosen.value} onChoose={(token) => (chosen.value = token)} />}
      <div role="status">
        <Changed difference={difference} who={chosen.value?.user} isNew={kept === undefined} isSame={rulesOf(before) === rulesOf(after)} />
      </div>
      <details class="panel">
        <summary>{chosen.value === undefined ? 'All that it allows then' : `All that ${visible(chosen.value.user)} may do then`}</summary>
        <Matrix deeds={deeds} judge={judge} />
      </details>
    </section>
  );
}

function rulesOf(policy: Policy): string {
  return JSON.stringify(policy['rest-api']?.rules);
}

/** Headings of the kinds of differences. */
const titles: readonly { readonly kind: keyof Difference; readonly tone: Tone; readonly title: string }[] = [
  { kind: 'gained', tone: 'good', title: 'Allowed then, not now' },
  { kind: 'lost', tone: 'bad', title: 'Allowed now, not then' },
  { kind: 'wider', tone: 'good', title: 'Allowed with more values, or showing more fields' },
  { kind: 'narrower', tone: 'bad', title: 'Allowed with fewer values, or showing fewer fields' },
  { kind: 'other', tone: 'warn', title: 'Allowed with other values, or showing other fields' },
];

type ChangedProps = {
  readonly difference: Difference;
  readonly who: string | undefined;
  readonly isNew: boolean;
  readonly isSame: boolean;
};

function Changed({ difference, who, isNew, isSame }: ChangedProps): ComponentChildren {
  if (titles.some(({ kind }) => difference[kind].length > 0))
    return titles.map(({ kind, tone, title }) => (
      <Sentences key={kind} tone={tone} title={`${title}: ${difference[kind].length.toLocaleString(locale)}`} texts={difference[kind]} />
    ));
  return (
    <p class="quiet">
      {who !== undefined
        ? `Nothing changes for ${visible(who)}.`
        : isNew
          ? 'It allows nothing yet.'
          : isSame
            ? 'The policy allows what it allowed.'
            : 'Its rules change, but no operation was found that they judge differently.'}
    </p>
  );
}

type SentencesProps = { readonly tone: Tone; readonly title: string; readonly texts: readonly string[] };

function Sentences({ tone, title, texts }: SentencesProps): ComponentChildren {
  if (texts.length === 0) return null;
  return (
    <>
      <h3>
        <Chip tone={tone}>{title}</Chip>
      </h3>
      <ul>
        {texts.slice(0, mostShown).map((text) => (
          <li key={text}>{visible(text)}</li>
        ))}
        {texts.length > mostShown && <li class="quiet">and {(texts.length - mostShown).toLocaleString(locale)} more</li>}
      </ul>
    </>
  );
}

type AffectedProps = {
  readonly holders: Holders;
  readonly chosen: Token | undefined;
  readonly onChoose: (token: Token | undefined) => void;
};

/** Tokens that are offered to be tried as. */
const mostTokens = 50;

function Affected({ holders: { tokens, applications, roles, isPart }, chosen, onChoose }: AffectedProps): ComponentChildren {
  const counts = [
    counted(tokens.length, said('token'), said('tokens')),
    counted(applications.length, said('application'), said('applications')),
    counted(roles.length, said('role'), said('roles')),
  ].filter((one) => one !== '');
  return (
    <>
      <p>
        {counts.length === 0
          ? 'Nobody has it'
          : `${listed(counts)} ${tokens.length + applications.length + roles.length === 1 ? 'is' : 'are'} affected`}
        {isPart && ', as far as you may see'}.{' '}
        {[...applications, ...roles].length > 0 && (
          <span class="quiet">
            {[...applications, ...roles]
              .slice(0, 10)
              .map((one) => visible(one))
              .join(', ')}
          </span>
        )}
      </p>
      {tokens.length > 0 && (
        <div class="field">
          <label for="try-as">Look at it as</label>
          <select
            id="try-as"
            value={chosen?.accessor ?? ''}
            onChange={(event) => onChoose(tokens.find(({ accessor }) => accessor === event.currentTarget.value))}
          >
            <option value="">somebody who has this policy alone</option>
            {tokens.slice(0, mostTokens).map(({ accessor, user, policies }) => (
              <option key={accessor} value={accessor}>
                {visible(`${user} (${policies.join(', ')}), token ${accessor.slice(0, 8)}`)}
              </option>
            ))}
          </select>
          {chosen !== undefined && (
            <p class="help">By the policies that you may read. What its tenant and its parents may do limits it further.</p>
          )}
        </div>
      )}
    </>
  );
}

function counted(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count.toLocaleString(locale)} ${count === 1 ? one : many}`;
}

/** `a, b and c` */
function listed(texts: readonly string[]): string {
  return texts.length < 2 ? (texts[0] ?? '') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1) ?? ''}`;
}

/** The other policies of a token, and that of every token; those that may not be read are left out. */
function useOthers(token: Token | undefined, policy: string): readonly Named[] {
  const others = useSignal<readonly Named[]>([]);
  useEffect(() => {
    others.value = [];
    if (token === undefined) return undefined;
    const controller = new AbortController();
    const ask = async (name: string): Promise<readonly Named[]> => {
      const path = `/v1/state/policy/policies/${encodeURIComponent(name)}`;
      const request = { method: 'GET', path } as const;
      await requireReadable(request);
      const { body } = await send(request, controller.signal);
      return [{ name, policy: body as Policy }];
    };
    const names = ['default', ...token.policies.filter((name) => name !== policy && name !== 'default')];
    const askAll = async (): Promise<void> => {
      const found = await Promise.all(names.map((name) => ask(name).catch((): readonly Named[] => [])));
      if (!controller.signal.aborted) others.value = found.flat();
    };
    void askAll();
    return () => controller.abort();
  }, [token?.accessor]);
  return others.value;
}
