// The state of the trail: whether it can be written, its chains with their signed heads, and what it found about itself.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { Chip } from '../../parts/chip.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Moment } from '../../times/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { wordsOf, type TrailRecord } from './records.ts';

const auditPath = '/v1/state/system/audit';
const findings = new Set(['cut-off', 'added', 'changed', 'set-aside', 'copied', 'unremembered', 'store-behind']);

type Audit = {
  readonly keys: readonly { readonly 'key-id': string }[];
  readonly heads: readonly { readonly chain: string; readonly sequence: number; readonly hash: string }[];
};

export type ChainsProps = {
  /** all records of a period; undefined if only some were asked for, which say nothing about the chains */
  readonly records: readonly TrailRecord[] | undefined;
  readonly turn: number;
};

export function Chains({ records, turn }: ChainsProps): ComponentChildren {
  const isAllowed = may('read', auditPath).value === 'yes';
  const loaded = useLoaded(isAllowed ? { method: 'GET', path: auditPath } : undefined, turn).value;
  if (!isAllowed) return null;
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  if (loaded.state !== 'there') return null;
  const { keys, heads } = loaded.answer.body as Audit;
  const signed = records?.findLast(({ kind }) => kind === 'head');
  const found = (records ?? []).filter(({ kind, event }) => kind === 'trail' && findings.has(String(event)));
  return (
    <section class="card" aria-labelledby="chains-title">
      <div class="card-head">
        <h2 id="chains-title">Chains</h2>
        <a href={hrefOf(auditPath)}>Keys and heads, to keep elsewhere</a>
      </div>
      {found.map((record) => (
        <p key={String(record.sequence)} class="notice">
          {wordsOf(record)}: chain {visible(record['of-chain'] ?? record.chain ?? '')}
        </p>
      ))}
      <p class="quiet">
        {signed?.['occurred-at'] === undefined ? (
          records === undefined ? (
            ''
          ) : (
            'No head was signed in this time.'
          )
        ) : (
          <>
            Signed last <Moment at={signed['occurred-at']} />
          </>
        )}
        {keys.length > 0 && (
          <>
            {signed === undefined ? ' Key' : ' with key'} <code>{visible(keys.at(-1)?.['key-id'].slice(0, 12) ?? '')}…</code>
          </>
        )}
      </p>
      <ul class="chains plain">
        {heads.map(({ chain, sequence, hash }) => {
          const newest = records?.findLast((record) => record.chain === chain)?.sequence ?? sequence;
          return (
            <li key={chain}>
              <strong>{visible(chain)}</strong>
              <span>{sequence.toLocaleString(locale)} records signed</span>
              {records !== undefined && (
                <Chip tone={newest > sequence + 1 ? 'quiet' : 'good'}>
                  {newest > sequence + 1 ? `${(newest - sequence).toLocaleString(locale)} since wait for the next signature` : 'all'}
                </Chip>
              )}
              <span class="head-hash">
                <code>{visible(hash.slice(0, 16))}…</code> <CopyButton text={hash} what={`hash of ${visible(chain)}`} />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
