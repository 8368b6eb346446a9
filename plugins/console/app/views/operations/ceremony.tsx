// Checklist of the ceremony that gives the PIN to custodians. The machine does it: no PIN and no share is ever in a browser.
import type { ComponentChildren } from 'preact';
import { address, go, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { DataTable } from '../../marks/data-table.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { visible } from '../../parts/visible.ts';
import { hsmPath, type HsmState } from '../hsm/state.ts';
import { locale } from '../../language/language.ts';
import { type CeremonyStep, ceremonySteps, fewest, most } from './ceremony-steps.ts';
import { ApplianceFingerprint } from './start-facts.tsx';

const words = {
  title: 'Share the PIN among custodians',
  about:
    'Any of the needed custodians together open the appliance, and fewer know nothing of the PIN. This page is a list to tick and to print.',
  shares: 'Custodians',
  needed: 'Needed to open it',
  all: 'Every share is needed: one that is lost leaves the appliance sealed for good.',
  print: 'Print',
  custodians: 'The custodians',
  table: 'Names and signatures, by share',
  said: 'the appliance says so',
} as const;

export function CeremonyPage({ catalog, path }: DrawnProps): ComponentChildren {
  const isAllowed = may('read', hsmPath).value;
  const loaded = useLoaded(isAllowed === 'yes' ? { method: 'GET', path: hsmPath } : undefined).value;
  const { query } = address.value;
  const shares = between(fewest, query.get('shares') ?? '5', most);
  const needed = between(fewest, query.get('needed') ?? '3', shares);
  const done = (query.get('done') ?? '').split(' ');
  const set = (more: Readonly<Record<string, string>>): void => {
    const all = { do: 'ceremony', shares: `${shares}`, needed: `${needed}`, done: done.join(' ').trim(), ...more };
    go(hrefOf(path, all), 'replace');
  };
  if (isAllowed === 'unknown' || (isAllowed === 'yes' && loaded.state === 'loading')) return <Loading />;
  const start = loaded.state === 'there' ? (loaded.answer.body as HsmState).start : undefined;
  return (
    <>
      <Heading catalog={catalog} title={words.title} path={`${path}/ceremony`}>
        <p class="quiet">{words.about}</p>
        <div class="buttons">
          <button type="button" onClick={() => print()}>
            {words.print}
          </button>
        </div>
      </Heading>
      <section class="card">
        <div class="pair">
          <Count
            id="shares"
            label={words.shares}
            value={shares}
            least={fewest}
            greatest={most}
            onChange={(value) => set({ shares: value })}
          />
          <Count
            id="needed"
            label={words.needed}
            value={needed}
            least={fewest}
            greatest={shares}
            onChange={(value) => set({ needed: value })}
          />
        </div>
        {needed === shares && <p class="notice">{words.all}</p>}
        <Steps
          steps={ceremonySteps(shares, needed, location.origin, start)}
          done={done}
          onDone={(ids) => set({ done: ids.join(' ').trim() })}
        />
      </section>
      <section class="card" aria-labelledby="custodians">
        <h2 id="custodians">{words.custodians}</h2>
        <DataTable
          label={words.table}
          isWhole
          columns={[
            { head: 'Share', is: 'name', cell: (number) => number.toLocaleString(locale) },
            { head: 'Name', cell: () => <Line /> },
            { head: 'Day', cell: () => <Line /> },
            { head: 'Signature', cell: () => <Line /> },
          ]}
          rows={Array.from({ length: shares }, (_, index) => index + 1)}
          keyOf={String}
        />
      </section>
      <ApplianceFingerprint />
    </>
  );
}

type StepsProps = {
  readonly steps: readonly CeremonyStep[];
  readonly done: readonly string[];
  readonly onDone: (ids: readonly string[]) => void;
};

function Steps({ steps, done, onDone }: StepsProps): ComponentChildren {
  return (
    <ol class="steps">
      {steps.map(({ id, what, why, command, isDone = false }) => (
        <li key={id}>
          <input
            type="checkbox"
            id={`step-${id}`}
            checked={isDone || done.includes(id)}
            disabled={isDone}
            onChange={() => onDone(done.includes(id) ? done.filter((one) => one !== id) : [...done, id])}
          />
          <div>
            <label for={`step-${id}`}>
              <strong>{what}</strong>
            </label>
            {isDone && <span class="quiet"> {words.said}</span>}
            <p class="quiet">{visible(why)}</p>
            {command !== undefined && !isDone && (
              <>
                <pre tabIndex={0} role="group" aria-label={`Command: ${what}`}>
                  {visible(command)}
                </pre>
                <CopyButton text={command} what={`command: ${what}`} />
              </>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

type CountProps = {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  readonly least: number;
  readonly greatest: number;
  readonly onChange: (value: string) => void;
};

function Count({ id, label, value, least, greatest, onChange }: CountProps): ComponentChildren {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="number" min={least} max={greatest} value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </div>
  );
}

/** Room to write by hand on the printed list. */
const Line = (): ComponentChildren => <span class="to-write" />;

const between = (least: number, text: string, greatest: number): number =>
  Math.min(greatest, Math.max(least, Math.trunc(Number(text)) || least));
