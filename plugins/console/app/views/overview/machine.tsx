// The machine below the service: tokens and their sessions, clock, disk, and the last backup.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { sumOf, type Reading } from '../../api/metrics.ts';
import { Meter } from '../../charts/meter.tsx';
import { sizeOf } from '../../marks/progress.tsx';
import { Chip } from '../../parts/chip.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import { timeText } from '../../times/times.ts';
import { locale } from '../../language/language.ts';

const backupStatus = '/v1/state/system/backup-status';
const restoreDrill = '/v1/state/system/restore-drill';
const hsm = '/v1/state/system/hsm';
/** Clocks that differ by more are worth a word. */
const clockToleranceSeconds = 5;

type Backups = {
  readonly scheduled: boolean;
  readonly running?: object;
  readonly 'next-at'?: string;
  readonly 'last-success-at'?: string;
  readonly 'last-bytes'?: number;
  readonly 'last-taken-at'?: string;
  readonly 'last-failure-at'?: string;
  readonly 'last-failure'?: string;
  readonly 'failures-in-a-row': number;
};

export function MachineCard({ newest, turn }: { readonly newest: Reading; readonly turn: number }): ComponentChildren {
  return (
    <section class="card" aria-labelledby="machine-title">
      <h2 id="machine-title">Machine</h2>
      <dl>
        <Tokens newest={newest} />
        <dt>Disk</dt>
        <dd>
          <Disk newest={newest} />
        </dd>
        <dt>Clock</dt>
        <dd>
          <Clock newest={newest} />
        </dd>
        <BackupFacts turn={turn} />
        <DrillFacts turn={turn} />
        <dt>Workers</dt>
        <dd>
          {sumOf(newest, 'keystored_workers')?.toLocaleString(locale)} with {sizeOf(sumOf(newest, 'process_resident_memory_bytes') ?? 0)} of
          memory
        </dd>
      </dl>
    </section>
  );
}

function Tokens({ newest }: { readonly newest: Reading }): ComponentChildren {
  const seesHsm = may('read', hsm).value === 'yes';
  const names = newest.samples.filter(({ name }) => name === 'keystored_hsm_token_up').map(({ labels }) => labels['token'] ?? '');
  return names.map((token) => {
    const ofToken = (name: string, state?: string): number =>
      sumOf(newest, name, (labels) => labels['token'] === token && (state === undefined || labels['state'] === state)) ?? 0;
    const [busy, idle] = [ofToken('keystored_hsm_sessions', 'busy'), ofToken('keystored_hsm_sessions', 'idle')];
    const waiting = ofToken('keystored_hsm_waiting_calls');
    return [
      <dt key={`${token} name`}>Token {seesHsm ? <a href={hrefOf(hsm)}>{visible(token)}</a> : <bdi>{visible(token)}</bdi>}</dt>,
      <dd key={`${token} facts`}>
        {ofToken('keystored_hsm_token_up') === 0 && <Chip tone="bad">does not work</Chip>}
        <Meter share={busy / Math.max(1, busy + idle)} label={`${busy} of ${busy + idle} sessions in use`} />
        {waiting > 0 && <Chip tone="warn">{waiting.toLocaleString(locale)} calls wait for one</Chip>}
      </dd>,
    ];
  });
}

function Disk({ newest }: { readonly newest: Reading }): ComponentChildren {
  const [free, size] = [sumOf(newest, 'keystored_disk_free_bytes') ?? 0, sumOf(newest, 'keystored_disk_size_bytes') ?? 0];
  const store = sumOf(newest, 'keystored_store_bytes') ?? 0;
  return (
    <>
      <Meter share={size === 0 ? 0 : 1 - free / size} label={`${sizeOf(free)} free of ${sizeOf(size)}`} />
      <span class="quiet">{sizeOf(store)} are the store</span>
    </>
  );
}

function Clock({ newest }: { readonly newest: Reading }): ComponentChildren {
  const seconds = sumOf(newest, 'keystored_clock_seconds') ?? 0;
  const ahead = Math.round(seconds - newest.atMs / 1_000);
  const isPlausible = sumOf(newest, 'keystored_clock_plausible') !== 0;
  return (
    <>
      {timeText(seconds * 1_000)} {!isPlausible && <Chip tone="warn">cannot be right: certificates and rotations wait</Chip>}
      {Math.abs(ahead) > clockToleranceSeconds && (
        <Chip tone="warn">
          {Math.abs(ahead).toLocaleString(locale)} seconds {ahead > 0 ? 'ahead of' : 'behind'} this browser
        </Chip>
      )}
    </>
  );
}

function BackupFacts({ turn }: { readonly turn: number }): ComponentChildren {
  const isAllowed = may('read', backupStatus).value === 'yes';
  const loaded = useLoaded(isAllowed ? { method: 'GET', path: backupStatus } : undefined, turn).value;
  if (loaded.state !== 'there') return null;
  const status = loaded.answer.body as Backups;
  const {
    scheduled,
    'last-success-at': last,
    'last-taken-at': taken,
    'last-bytes': size,
    'next-at': next,
    'failures-in-a-row': failures,
  } = status;
  return (
    <>
      <dt>
        <a href={hrefOf(backupStatus)}>Backup</a>
      </dt>
      <dd>
        {last === undefined && taken !== undefined ? (
          <>
            by hand <Moment at={taken} />
          </>
        ) : last === undefined ? (
          <Chip tone={scheduled ? 'quiet' : 'warn'}>{scheduled ? 'none was complete yet' : 'no backup is scheduled'}</Chip>
        ) : (
          <>
            <Moment at={last} />
            {size !== undefined && `, ${sizeOf(size)}`}
          </>
        )}
        {next !== undefined && (
          <span class="quiet">
            ; the next <Moment at={next} />
          </span>
        )}
        {status.running !== undefined && <Chip tone="good">one runs now</Chip>}
        {failures > 0 && (
          <Chip tone="bad">
            failed {failures.toLocaleString(locale)} {failures === 1 ? 'time' : 'times'} since: {visible(status['last-failure'] ?? '')}
          </Chip>
        )}
      </dd>
    </>
  );
}

/** When a restore drill has last proven a backup. */
function DrillFacts({ turn }: { readonly turn: number }): ComponentChildren {
  const isAllowed = may('read', restoreDrill).value === 'yes';
  const loaded = useLoaded(isAllowed ? { method: 'GET', path: restoreDrill } : undefined, turn).value;
  if (loaded.state !== 'there') return null;
  const good = (loaded.answer.body as { readonly 'last-good'?: { readonly at: string } })['last-good'];
  return (
    <>
      <dt>
        <a href={hrefOf(backupStatus)}>Restore drill</a>
      </dt>
      <dd>{good === undefined ? <Chip tone="warn">never</Chip> : <Moment at={good.at} />}</dd>
    </>
  );
}
