// Entries that end or need a person soon: certificates and CAs within ninety days, and keys that are overdue or near their limit.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import type { Reading } from '../../api/metrics.ts';
import { Chip } from '../../parts/chip.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { fromNow, When } from '../../times/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';

const cas = '/v1/state/keystore/tls/ca';
const caPages = '/v1/config/keystore/tls/ca';
const keys = '/v1/config/keystore/transit-keys';
const dayMs = 86_400_000;
const soonDays = 90;
const nearDays = 30;
/** CAs of a tenant that are looked at where there are no metrics. */
const mostCas = 200;

/** Something with an end. */
type Ending = { readonly name: string; readonly what: string; readonly endsMs: number; readonly path?: string };

type EndingProps = {
  /** the metrics, where they may be read: they know the CAs of all tenants */
  readonly newest: Reading | undefined;
  /** true while they are on their way */
  readonly awaits: boolean;
  readonly turn: number;
};

export function EndingCard({ newest, awaits, turn }: EndingProps): ComponentChildren {
  const query = { limit: String(mostCas), fields: 'name,not-after' };
  const isAllowed = may('read', cas).value === 'yes';
  const loaded = useLoaded(newest === undefined && !awaits && isAllowed ? { method: 'GET', path: cas, query } : undefined, turn).value;
  const listed =
    loaded.state === 'there' ? (loaded.answer.body as readonly { readonly name: string; readonly 'not-after'?: string }[]) : [];
  const known = newest === undefined ? listed.map(endingOfCa) : endingsIn(newest);
  const now = Date.now();
  const soon = known.filter(({ endsMs }) => endsMs < now + soonDays * dayMs).toSorted((left, right) => left.endsMs - right.endsMs);
  const empty =
    known.length === 0 ? 'There are no CAs yet.' : `None of ${known.length.toLocaleString(locale)} ends within ${soonDays} days.`;
  const isKnown = newest !== undefined || loaded.state === 'there';
  if (!isAllowed && !isKnown && !awaits) return null;
  return (
    <section class="card" aria-labelledby="ending-title">
      <h2 id="ending-title">Certificates that end</h2>
      {soon.length === 0 ? (
        <p class="quiet">{isKnown ? empty : 'Loading …'}</p>
      ) : (
        <ul class="plain">
          {soon.slice(0, 20).map((one) => (
            <li key={`${one.what} ${one.name}`}>
              <Chip tone={one.endsMs < now ? 'bad' : one.endsMs < now + nearDays * dayMs ? 'warn' : 'quiet'}>
                {one.path === undefined ? <bdi>{visible(one.name)}</bdi> : <a href={hrefOf(one.path)}>{visible(one.name)}</a>}{' '}
                <span class="quiet">{one.what}</span> {one.endsMs < now ? 'ended' : 'ends'}{' '}
                <When at={new Date(one.endsMs).toISOString()}>{fromNow(one.endsMs, now)}</When>
              </Chip>
            </li>
          ))}
          {soon.length > 20 && <li class="quiet">and {(soon.length - 20).toLocaleString(locale)} more</li>}
        </ul>
      )}
    </section>
  );
}

function endingOfCa({ name, 'not-after': notAfter }: { readonly name: string; readonly 'not-after'?: string }): Ending {
  return { name, what: 'CA', endsMs: Date.parse(notAfter ?? ''), path: `${caPages}/${encodeURIComponent(name)}` };
}

function endingsIn({ samples }: Reading): readonly Ending[] {
  return samples
    .filter(({ name }) => name === 'keystored_certificate_not_after_seconds')
    .map(({ labels: { kind, tenant = '', name = '' }, value }) => {
      const endsMs = value * 1_000;
      if (kind === 'listener') return { name: 'Certificate of this address', what: '', endsMs };
      const isOwn = tenant === 'system';
      const what = kind === 'registration' ? 'registration authority' : 'CA';
      return {
        name,
        what: isOwn ? what : `${what} of ${visible(tenant)}`,
        endsMs,
        ...(isOwn ? { path: `${caPages}/${encodeURIComponent(name)}` } : {}),
      };
    });
}

/** Keys that say so themselves: the list asks the appliance for them, however many others there are. */
export function KeysCard({ turn }: { readonly turn: number }): ComponentChildren {
  const isAllowed = may('read', keys).value === 'yes';
  const query = { limit: '10', attention: 'true', fields: 'name' };
  const loaded = useLoaded(isAllowed ? { method: 'GET', path: keys, query } : undefined, turn).value;
  if (!isAllowed) return null;
  return (
    <section class="card" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys that need a person</h2>
      {loaded.state === 'loading' && <p class="quiet">Looking at all keys …</p>}
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {loaded.state === 'there' && (
        <KeysInNeed
          names={(loaded.answer.body as readonly { readonly name: string }[]).map(({ name }) => name)}
          total={Number(loaded.answer.headers.get('total-count'))}
        />
      )}
    </section>
  );
}

function KeysInNeed({ names, total }: { readonly names: readonly string[]; readonly total: number }): ComponentChildren {
  if (total === 0)
    return <p class="quiet">None: no rotation is overdue, and no key has made half of the 2³² encryptions that a version may make.</p>;
  return (
    <>
      <ul class="plain">
        {names.map((name) => (
          <li key={name}>
            <Chip tone="warn">
              <a href={hrefOf(`${keys}/${encodeURIComponent(name)}`)}>
                <bdi>{visible(name)}</bdi>
              </a>
            </Chip>
          </li>
        ))}
      </ul>
      <p>
        <a href={hrefOf(keys, { attention: 'true' })}>
          {total === 1 ? 'Show it in the list' : `All ${total.toLocaleString(locale)} in the list`}
        </a>
      </p>
    </>
  );
}
