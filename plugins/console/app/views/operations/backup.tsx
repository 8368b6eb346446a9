// A backup to this computer: what opens it, how far it is, and the file.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { guardLeaving, hrefOf } from '../../address/router.ts';
import { download, type Downloaded } from '../../api/download.ts';
import { may } from '../../api/may.ts';
import { CopyAsCommand } from '../../commands/copy-as-command.tsx';
import { Progress, sizeOf } from '../../marks/progress.tsx';
import { useRepeated } from '../../marks/repeated.ts';
import { saveFile, SaveButton } from '../../marks/save-button.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { RunningBackup } from './running.tsx';
import { backupPath, statusPath, type BackupStatus } from './state.ts';

/** Least length of a passphrase, as in the API. */
const leastCharacters = 12;

type Phase =
  | { readonly is: 'ready'; readonly error?: unknown }
  | { readonly is: 'preparing' }
  | ({ readonly is: 'receiving' } & Downloaded)
  | { readonly is: 'done'; readonly file: Blob; readonly name: string };

/** Long because it is one view from top to bottom. */
export function BackupPage({ catalog }: DrawnProps): ComponentChildren {
  const entry = catalog.entries.find(({ path }) => path === backupPath);
  const [way, passphrase, again, recipients] = [useSignal('passphrase'), useSignal(''), useSignal(''), useSignal('')];
  const phase = useSignal<Phase>({ is: 'ready' });
  const controller = useRef<AbortController | undefined>(undefined);
  const said = may(entry?.operation['x-operation'], backupPath).value;
  const isRunning = phase.value.is === 'preparing' || phase.value.is === 'receiving';
  useEffect(() => {
    guardLeaving(isRunning ? () => window.confirm('The backup is not complete. Leave the page and end it?') : undefined);
    return () => guardLeaving(undefined);
  }, [isRunning]);
  useEffect(() => () => controller.current?.abort(), []);

  const lines = recipients.value.split(/\s+/).filter((one) => one !== '');
  const body = way.value === 'passphrase' ? { passphrase: passphrase.value } : { recipients: lines };
  const lacks = way.value === 'passphrase' ? lackOf(passphrase.value, again.value) : lines.length === 0 ? 'Give a recipient.' : undefined;
  const request = { method: 'POST', path: backupPath, body };
  const begin = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (lacks !== undefined || isRunning) return;
    controller.current = new AbortController();
    phase.value = { is: 'preparing' };
    try {
      const file = await download(request, (now) => (phase.value = { is: 'receiving', ...now }), controller.current.signal);
      const name = `keystored-${new Date().toISOString().slice(0, 16).replace(':', '')}Z.age`;
      phase.value = { is: 'done', file, name };
      saveFile(file, name);
      [passphrase.value, again.value] = ['', ''];
    } catch (error) {
      phase.value = controller.current.signal.aborted ? { is: 'ready' } : { is: 'ready', error };
    }
  };
  return (
    <>
      <Heading catalog={catalog} title="Back up to this computer" path={backupPath}>
        <p class="quiet">
          The whole appliance as one encrypted file (age). Keep what opens it apart from it: nothing else does.{' '}
          <a href={hrefOf(statusPath)}>Other backups</a>
        </p>
      </Heading>
      {phase.value.is === 'ready' && phase.value.error !== undefined && <Problem error={phase.value.error} />}
      {phase.value.is === 'done' && <Done file={phase.value.file} name={phase.value.name} />}
      {isRunning && (
        <section class="card" aria-label="Progress">
          {phase.value.is === 'receiving' ? (
            <Progress label="Backup received" done={phase.value.doneBytes} total={phase.value.totalBytes}>
              {sizeOf(phase.value.doneBytes)} of {sizeOf(phase.value.totalBytes)} are here. Stay on this page until the file is saved.
            </Progress>
          ) : (
            <Preparing />
          )}
          <div class="buttons">
            <button type="button" onClick={() => controller.current?.abort()}>
              Stop
            </button>
          </div>
        </section>
      )}
      {typeof said === 'object' ? (
        <p class="notice">You may not take a backup: {said.no}</p>
      ) : (
        !isRunning && (
          <section class="card">
            <form onSubmit={(event) => void begin(event)} noValidate autocomplete="off">
              <fieldset>
                <legend>What opens it</legend>
                {[
                  ['passphrase', 'a passphrase'],
                  ['recipients', 'the private keys of age recipients'],
                ].map(([value, label]) => (
                  <label key={value}>
                    <input type="radio" name="way" checked={way.value === value} onChange={() => (way.value = value ?? '')} /> {label}
                  </label>
                ))}
              </fieldset>
              {way.value === 'passphrase' ? (
                <>
                  <div class="field">
                    <label for="passphrase">Passphrase</label>
                    <p class="help" id="passphrase-help">
                      {leastCharacters} characters or more. Without it the backup cannot be opened by anyone.
                    </p>
                    <input
                      id="passphrase"
                      type="password"
                      autocomplete="new-password"
                      aria-describedby="passphrase-help"
                      value={passphrase.value}
                      onInput={(event) => (passphrase.value = event.currentTarget.value)}
                    />
                  </div>
                  <div class="field">
                    <label for="again">The same again</label>
                    <input
                      id="again"
                      type="password"
                      autocomplete="new-password"
                      value={again.value}
                      onInput={(event) => (again.value = event.currentTarget.value)}
                    />
                  </div>
                </>
              ) : (
                <div class="field">
                  <label for="recipients">Recipients</label>
                  <p class="help" id="recipients-help">
                    One a line: all age1… or all age1pq1….
                  </p>
                  <textarea
                    id="recipients"
                    class="code"
                    rows={4}
                    spellcheck={false}
                    aria-describedby="recipients-help"
                    value={recipients.value}
                    onInput={(event) => (recipients.value = event.currentTarget.value)}
                  />
                </div>
              )}
              <div class="buttons">
                <button type="submit" class="primary" disabled={lacks !== undefined}>
                  Back up
                </button>
                {lacks !== undefined && <span class="quiet">{lacks}</span>}
              </div>
              {entry !== undefined && (
                <CopyAsCommand
                  commanded={lacks === undefined ? { entry, names: [], request, hasSecrets: way.value === 'passphrase' } : undefined}
                />
              )}
            </form>
          </section>
        )
      )}
    </>
  );
}

function lackOf(passphrase: string, again: string): string | undefined {
  if (passphrase.length < leastCharacters) return `It needs ${leastCharacters} characters or more.`;
  return passphrase === again ? undefined : 'The two are not the same yet.';
}

/** Shows the progress of the appliance until the answer begins. */
function Preparing(): ComponentChildren {
  const turn = useSignal(0);
  const status = useKept(useLoaded({ method: 'GET', path: statusPath }, turn.value).value)?.body as BackupStatus | undefined;
  useRepeated(true, 1_000, () => (turn.value += 1));
  if (status?.running !== undefined) return <RunningBackup running={status.running} />;
  return (
    <Progress label="Backup" done={0} total={0}>
      The appliance prepares the backup …
    </Progress>
  );
}

function Done({ file, name }: { readonly file: Blob; readonly name: string }): ComponentChildren {
  return (
    <section class="card" role="status" aria-label="Backup complete">
      <h2>The backup is complete</h2>
      <p>
        <code>{name}</code>, {sizeOf(file.size)}. Your browser has saved it, or asks where to.
      </p>
      <div class="buttons">
        <SaveButton content={file} name={name}>
          Save it again
        </SaveButton>
      </div>
      <p class="quiet">
        Try it before you need it: a <a href={hrefOf(statusPath)}>restore drill</a> proves that it restores.
      </p>
    </section>
  );
}
