// A request for approval: what it changes beside what is, the six words to compare by telephone, and the decisions that this person has.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { account, type Identity } from '../../api/session.ts';
import { titleOf, type Entry } from '../../description/catalog.ts';
import { textOf } from '../../description/schema.ts';
import { Act } from '../../forms/act.tsx';
import { DataTable } from '../../marks/data-table.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { visible } from '../../parts/visible.ts';
import { When, fromNow } from '../../times/moments.tsx';

const template = '/v1/state/approvals/{id}';

type Person = Identity & { readonly user: string };

type Approval = {
  readonly state: string;
  readonly requester: Person;
  readonly 'client-ip': string;
  readonly 'is-own': boolean;
  readonly 'may-decide': boolean;
  readonly method: string;
  readonly path: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly hidden: boolean;
  readonly rules: readonly {
    readonly name: string;
    readonly needed: number;
    readonly have: number;
    readonly 'groups-lacking'?: number;
    readonly 'rejections-needed'?: number;
  }[];
  readonly approvals: readonly Person[];
  readonly rejections?: readonly (Person & { readonly reason: string })[];
  readonly until: string;
  readonly digest: string;
  readonly 'digest-words': string;
  readonly reason: string;
};

const tones: Readonly<Record<string, Tone>> = { open: 'warn', granted: 'good' };

const words = {
  asks: 'asks to do this',
  rejectedBy: 'Rejected by',
  reasonOf: 'Why, in the words of the person who asks',
  compare: 'Let the person who asks read out these words, in a call that you begin. Approve only if they are the same.',
  compared: 'The person has read out the same words.',
  compareFirst: 'Compare the words first.',
  hidden: 'Your policies hide what it asks for: somebody who may see it approves it.',
  approve: 'Approve exactly this',
  reject: 'Reject',
  withdraw: 'Withdraw',
  decided: 'You have decided about this. Until it is sent you can take that back.',
  takeBack: 'Take my decision back',
} as const;

/** Draws nothing while the request may not be read: the page below says why. */
export function ApprovalView({ catalog, place: { names }, turn: asked }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useSteady(useLoaded({ method: 'GET', path: fillPath(template, names) }, turn.value + asked).value);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const approval = loaded.answer.body as Approval;
  const { state, requester, method, path, parameters = {}, rules, rejections = [], until, reason } = approval;
  const again = (): void => void (turn.value += 1);
  const entryOf = (action: string): Entry | undefined => catalog.entries.find((one) => one.path === `${template}/${action}`);
  return (
    <>
      <section class="card" aria-labelledby="asked-title">
        <div class="card-head">
          <h2 id="asked-title">
            <bdi>{visible(requester.user)}</bdi> {words.asks}
          </h2>
          <Chip tone={tones[state] ?? 'quiet'}>{state}</Chip>
        </div>
        <p>
          {visible(method)} <code>{visible(path)}</code>
        </p>
        <Differences parameters={parameters} />
        <dl>
          <dt>{words.reasonOf}</dt>
          <dd>
            <bdi>{visible(reason, 'lines')}</bdi>
          </dd>
          <dt>Who</dt>
          <dd>
            {visible(requester.subject)} of {visible(requester.source)}, from {visible(approval['client-ip'])}
          </dd>
          <dt>Approvals</dt>
          <dd>{rules.map(approvalsText).join(', ')}</dd>
          {rejections.length > 0 && <dt>{words.rejectedBy}</dt>}
          {rejections.map(({ user, subject, reason: why }) => (
            <dd key={subject}>
              <bdi>{visible(user)}</bdi>: <bdi>{visible(why, 'lines')}</bdi>
            </dd>
          ))}
          <dt>Ends</dt>
          <dd>
            <When at={until}>{fromNow(Date.parse(until))}</When>
          </dd>
        </dl>
      </section>
      {(state === 'open' || state === 'granted') && <Decisions approval={approval} names={names} entryOf={entryOf} onDone={again} />}
    </>
  );
}

function approvalsText(rule: Approval['rules'][number]): string {
  const { name, needed, have, 'groups-lacking': lacking, 'rejections-needed': rejections } = rule;
  const lack = lacking === undefined ? '' : ` (${lacking} groups lacking)`;
  const ending = rejections === undefined ? '' : ` (${rejections} rejections end it)`;
  return `${have} of ${needed} for ${visible(name)}${lack}${ending}`;
}

type Difference = { readonly present?: unknown; readonly wanted?: unknown };

/** Of a change the fields as they are and as they are to be; of an action its parameters. */
function Differences({ parameters }: { readonly parameters: Readonly<Record<string, unknown>> }): ComponentChildren {
  const rows = Object.entries(parameters);
  if (rows.length === 0) return null;
  const isChange = (value: unknown): value is Difference =>
    typeof value === 'object' && value !== null && ('wanted' in value || 'present' in value);
  const shown = (value: unknown): ComponentChildren =>
    value === undefined || value === null ? <span class="quiet">not set</span> : <bdi>{visible(textOf(value), 'lines')}</bdi>;
  return (
    <DataTable
      label="What it asks for"
      columns={[
        { head: 'Field', is: 'name', cell: ([name]) => titleOf(name) },
        { head: 'Now', cell: ([, value]) => (isChange(value) ? shown(value.present) : '') },
        { head: 'Wanted', cell: ([, value]) => shown(isChange(value) ? value.wanted : value) },
      ]}
      rows={rows}
      keyOf={([name]) => name}
    />
  );
}

type DecisionsProps = {
  readonly approval: Approval;
  readonly names: readonly string[];
  readonly entryOf: (action: string) => Entry | undefined;
  readonly onDone: () => void;
};

function Decisions({ approval, names, entryOf, onDone }: DecisionsProps): ComponentChildren {
  const isCompared = useSignal(false);
  const reason = useSignal('');
  const [approve, reject, withdraw] = [entryOf('approve'), entryOf('reject'), entryOf('withdraw')];
  const { 'is-own': isOwn, 'may-decide': mayDecide, hidden, digest, approvals, rejections = [] } = approval;
  const hasDecided = [...approvals, ...rejections].some((one) => isOneself(one));
  return (
    <section class="card" aria-labelledby="words-title">
      <h2 id="words-title">Six words</h2>
      <p class="six-words">
        <strong>{approval['digest-words']}</strong>
      </p>
      {!isOwn && mayDecide && (
        <>
          <p>{words.compare}</p>
          {hidden && <p class="notice">{words.hidden}</p>}
          {approve !== undefined && !hidden && (
            <Act
              entry={approve}
              names={names}
              body={{ digest }}
              does={words.approve}
              lacks={isCompared.value ? undefined : words.compareFirst}
              onDone={onDone}
            >
              <label class="check">
                <input type="checkbox" checked={isCompared.value} onChange={(event) => (isCompared.value = event.currentTarget.checked)} />
                <span>{words.compared}</span>
              </label>
            </Act>
          )}
          {reject !== undefined && (
            <details class="panel">
              <summary>{words.reject}</summary>
              <Act
                entry={reject}
                names={names}
                body={{ reason: reason.value.trim() }}
                does={words.reject}
                lacks={reason.value.trim().length < 3 ? 'Say why.' : undefined}
                onDone={onDone}
              >
                <div class="field">
                  <label for="reject-reason">Why</label>
                  <input
                    id="reject-reason"
                    type="text"
                    maxLength={512}
                    autocomplete="off"
                    value={reason.value}
                    onInput={(event) => (reason.value = event.currentTarget.value)}
                  />
                </div>
              </Act>
            </details>
          )}
          {hasDecided && withdraw !== undefined && (
            <Act entry={withdraw} names={names} does={words.takeBack} onDone={onDone}>
              <p>{words.decided}</p>
            </Act>
          )}
        </>
      )}
      {isOwn && withdraw !== undefined && <Act entry={withdraw} names={names} does={words.withdraw} onDone={onDone} />}
    </section>
  );
}

function isOneself({ kind, source, subject }: Person): boolean {
  const own = account.value?.identity;
  return own !== undefined && own.kind === kind && own.source === source && own.subject === subject;
}
