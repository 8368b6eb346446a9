// Findings of a drill or of a look at a backup, and the command that restores it on a machine.
import type { ComponentChildren } from 'preact';
import { locale } from '../../language/language.ts';
import { sizeOf } from '../../marks/progress.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';
import { Exact, Moment } from '../../times/moments.tsx';
import type { DrillResult } from './drill-state.ts';

const tones: Readonly<Record<DrillResult['outcome'], Tone>> = { restores: 'good', found: 'bad', 'not-opened': 'bad', looked: 'quiet' };

const words = {
  outcomes: {
    restores: 'restores',
    found: 'restores with faults',
    'not-opened': 'did not open',
    looked: 'opened, not restored for trial',
  },
  backup: 'Last one looked at',
  by: (who: string): string => `, by ${who}`,
  made: 'Made',
  madeBy: (host: string, version: string): string => ` by ${host}, keystored ${version}`,
  signed: 'Signed by',
  signers: { 'this-appliance': 'this appliance', another: 'another appliance', nobody: 'nobody' },
  content: 'In it',
  contentOf: (records: string, size: string): string => `${records} records, ${size}`,
  withToken: ', with its token',
  tokens: (names: string): string => `, without its token: it needs ${names}`,
  keys: 'Keys that opened',
  count: (count: number, type: string): string => `${count.toLocaleString(locale)} ${type}`,
  more: (count: number): string => `and ${count.toLocaleString(locale)} more`,
  restore: 'Restore it',
  restoreWhy:
    'On the machine that is to become the appliance, in an empty data directory, before its first start. It cannot be done from here: anyone who restores brings back tokens and policies, and so controls the appliance; only access to the machine proves that right. Do not run the old and the restored one at the same time.',
  commandHelp:
    'With an age identity: --restore-identity-file in place of the passphrase. audit-keys.pem is the copy of the public keys of the trail that you keep elsewhere: it proves who made the backup.',
} as const;

export function DrillOutcome({ result }: { readonly result: DrillResult }): ComponentChildren {
  const { outcome, source, at, by, reason, keys, findings = [], notes = [], 'finding-count': count = 0 } = result;
  return (
    <>
      <dl>
        <dt>{words.backup}</dt>
        <dd>
          <bdi>{visible(source)}</bdi> <Chip tone={tones[outcome]}>{words.outcomes[outcome]}</Chip>{' '}
          <span class="quiet">
            <Moment at={at} />
            {words.by(visible(by))}
          </span>
          {reason !== undefined && <p>{visible(reason)}</p>}
        </dd>
        <Facts result={result} />
        {keys !== undefined && (
          <>
            <dt>{words.keys}</dt>
            <dd>{keys.map(({ type, count: many }) => words.count(many, visible(type))).join(', ')}</dd>
          </>
        )}
      </dl>
      {[...findings, ...notes].length > 0 && (
        <ul>
          {[...findings, ...notes].map(({ where, problem }) => (
            <li key={`${where} ${problem}`}>
              <bdi>{visible(where)}</bdi>: {visible(problem)}
            </li>
          ))}
          {count > findings.length && <li>{words.more(count - findings.length)}</li>}
        </ul>
      )}
      {(outcome === 'restores' || outcome === 'looked') && result.kind !== 'noted' && (
        <details>
          <summary>{words.restore}</summary>
          <p>{words.restoreWhy}</p>
          <pre>
            keystored --data NEW-DIRECTORY --restore FILE --restore-passphrase-file PASSPHRASE-FILE --restore-audit-keys audit-keys.pem
          </pre>
          <p class="quiet">{words.commandHelp}</p>
        </details>
      )}
    </>
  );
}

function Facts({ result }: { readonly result: DrillResult }): ComponentChildren {
  const { 'made-at': madeAt, 'made-by': madeBy = '', version = '', 'signed-by': signer, 'key-id': keyId, records, bytes } = result;
  return (
    <>
      {madeAt !== undefined && (
        <>
          <dt>{words.made}</dt>
          <dd>
            <Exact at={madeAt} />
            {words.madeBy(visible(madeBy), visible(version))}
          </dd>
        </>
      )}
      {signer !== undefined && (
        <>
          <dt>{words.signed}</dt>
          <dd>
            <Chip tone={signer === 'this-appliance' ? 'good' : 'warn'}>{words.signers[signer]}</Chip>{' '}
            {keyId !== undefined && <code>{visible(keyId)}</code>}
          </dd>
        </>
      )}
      {bytes !== undefined && (
        <>
          <dt>{words.content}</dt>
          <dd>
            {words.contentOf(records?.toLocaleString(locale) ?? '?', sizeOf(bytes))}
            {result.embedded === true ? words.withToken : words.tokens((result.tokens ?? []).map((one) => visible(one)).join(', '))}
          </dd>
        </>
      )}
    </>
  );
}
