// Backups: the one that runs, how the last ones went, and the ways to another.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { Act } from '../../forms/act.tsx';
import { sizeOf } from '../../marks/progress.tsx';
import { useRepeated } from '../../marks/repeated.ts';
import { AllowedLink } from '../../parts/allowed.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Exact, Moment } from '../../times/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { DrillCard } from './drill.tsx';
import { RunningBackup } from './running.tsx';
import { backupPath, runPath, statusPath, type BackupStatus } from './state.ts';

/** Time between readings while a backup runs, and while none does. */
const [lookEveryMs, lookSeldomMs] = [1_000, 15_000];

export function BackupStatusPage({ catalog }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path: statusPath }, turn.value).value;
  const status = useKept(loaded)?.body as BackupStatus | undefined;
  useRepeated(true, status?.running === undefined ? lookSeldomMs : lookEveryMs, () => (turn.value += 1));
  const run = catalog.entries.find(({ path }) => path === runPath);
  return (
    <>
      <Heading catalog={catalog} title="Backups" path={statusPath}>
        <p class="quiet">Of the whole appliance: store, keys of the embedded token, settings. Each is encrypted before it leaves.</p>
        <div class="buttons">
          <AllowedLink operation="execute" path={backupPath} href={hrefOf(backupPath)} look="button primary">
            Back up to this computer
          </AllowedLink>
          <Refresh turn={turn} />
        </div>
      </Heading>
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {status === undefined && loaded.state === 'loading' && <Loading />}
      {status?.running !== undefined && (
        <section class="card" aria-label="The backup that runs">
          <h2>Running now</h2>
          <RunningBackup running={status.running} />
        </section>
      )}
      {status !== undefined && <LastBackups status={status} />}
      {status !== undefined && run !== undefined && typeof may(run.operation['x-operation'], runPath).value !== 'object' && (
        <section class="card">
          <h2>To the targets of the configuration</h2>
          <p class="quiet">
            A directory or S3 storage, named in the configuration with who can open it. It goes on when you leave this page.
          </p>
          {status.targets === 0 ? (
            <p>
              The configuration names no target yet: until it does, save backups to this computer. <code>backup</code> with <code>to</code>{' '}
              and <code>recipients</code> in the configuration file is where it is set.
            </p>
          ) : (
            <Act
              entry={run}
              names={[]}
              does="Back up now"
              lacks={status.running === undefined ? undefined : 'One runs already.'}
              onDone={() => (turn.value += 1)}
            />
          )}
        </section>
      )}
      <DrillCard catalog={catalog} />
    </>
  );
}

function LastBackups({ status }: { readonly status: BackupStatus }): ComponentChildren {
  const { failures } = status;
  const [success, failure, next, inARow] = [
    status['last-success-at'],
    status['last-failure-at'],
    status['next-at'],
    status['failures-in-a-row'],
  ];
  return (
    <section class="card" aria-labelledby="last-backups">
      <h2 id="last-backups">To the targets so far</h2>
      {success === undefined && failures === 0 ? (
        <p>
          None has been made yet.
          {status['last-taken-at'] !== undefined && (
            <>
              {' '}
              One was taken by hand <Moment at={status['last-taken-at']} />.
            </>
          )}
        </p>
      ) : (
        <dl>
          <dt>Last complete one</dt>
          <dd>
            {success === undefined ? (
              <Chip tone="bad">none yet</Chip>
            ) : (
              <>
                <Chip tone={inARow > 0 ? 'warn' : 'good'}>
                  <Moment at={success} />
                </Chip>{' '}
                <span class="quiet">
                  <Exact at={success} />
                  {status['last-bytes'] !== undefined && `, ${sizeOf(status['last-bytes'])}`}
                  {status['last-seconds'] !== undefined && ` in ${Math.ceil(status['last-seconds']).toLocaleString(locale)} s`}
                </span>
              </>
            )}
          </dd>
          {status['last-digest'] !== undefined && (
            <>
              <dt>Its SHA-256</dt>
              <dd>
                <code>{visible(status['last-digest'])}</code>
              </dd>
            </>
          )}
          {failure !== undefined && (
            <>
              <dt>Last failure</dt>
              <dd>
                <Moment at={failure} />: {visible(status['last-failure'] ?? '')}
                {inARow > 1 && <span class="quiet"> ({inARow.toLocaleString(locale)} in a row)</span>}
              </dd>
            </>
          )}
        </dl>
      )}
      <p class="quiet">
        {next === undefined ? (
          'There is no schedule: backups are made by hand.'
        ) : (
          <>
            The next one begins <Moment at={next} />.
          </>
        )}
      </p>
    </section>
  );
}
