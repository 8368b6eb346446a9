// Restore drills: a backup is chosen or uploaded, opened and restored for trial, and what came of it. The restore itself is on the machine.
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { base64Of } from '../../api/base64.ts';
import { may } from '../../api/may.ts';
import { send } from '../../api/request.ts';
import type { Catalog, Entry } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { Progress, sizeOf } from '../../marks/progress.tsx';
import { useRepeated } from '../../marks/repeated.ts';
import { Chip } from '../../parts/chip.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { Moment } from '../../times/moments.tsx';
import { drillPaths as paths, type DrillState, type StoredBackup } from './drill-state.ts';
import { DrillOutcome } from './drill-outcome.tsx';

/** Time between readings while a drill runs, and octets of a piece of an upload. */
const lookEveryMs = 1_000;
const pieceBytes = 2 << 20;

const words = {
  title: 'Restore drill',
  about:
    'The appliance restores a backup for trial in a place of its own, opens every record and uses every key once. What serves is not touched.',
  last: 'Last drill that proved a backup',
  never: 'never',
  by: (who: string): string => ` by ${who}`,
  noted: ', noted: it was elsewhere',
  stages: { reading: 'It is decrypted and verified', proving: 'It is restored for trial' },
  begun: ', begun ',
  which: 'Which backup',
  uploaded: 'a file from this computer',
  file: 'File',
  there: (size: string): string => `${size} are uploaded. The file stays encrypted there, and is removed after an hour.`,
  sent: (done: string, all: string): string => `${done} of ${all} uploaded`,
  opens: 'What opens it',
  passphrase: 'Passphrase',
  identity: 'age identity',
  identityHelp: 'AGE-SECRET-KEY-1…. Better leave it where it is, and run the drill on that machine.',
  pin: 'PIN of the token, if neither the backup nor the configuration has it',
  look: 'Only look what is in it, before a restore for example',
  run: 'Run the drill',
  lookNow: 'Look',
  runsAlready: 'One runs already.',
  needsFile: 'Upload a file first.',
  needsSecret: 'Give what opens it.',
  elsewhere: 'A drill elsewhere',
  elsewhereHelp: 'Of a drill on the machine that has the identity this appliance learns by your note alone.',
  source: 'Which backup it was, and where',
  note: 'Note it',
  needsSource: 'Say which one it was.',
} as const;

export function DrillCard({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const turn = useSignal(0);
  const isOffered = catalog.at(paths.state) !== undefined && may('read', paths.state).value === 'yes';
  const loaded = useLoaded(isOffered ? { method: 'GET', path: paths.state } : undefined, turn.value).value;
  const state = useKept(loaded)?.body as DrillState | undefined;
  useRepeated(state?.running !== undefined, lookEveryMs, () => (turn.value += 1));
  if (!isOffered) return null;
  const good = state?.['last-good'];
  return (
    <section class="card" aria-labelledby="drill-title">
      <h2 id="drill-title">{words.title}</h2>
      <p class="quiet">{words.about}</p>
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {state !== undefined && (
        <dl>
          <dt>{words.last}</dt>
          <dd>
            {good === undefined ? (
              <Chip tone="warn">{words.never}</Chip>
            ) : (
              <>
                <Chip tone="good">
                  <Moment at={good.at} />
                </Chip>
                <span class="quiet">
                  {words.by(visible(good.by))}
                  {good.kind === 'noted' && words.noted}
                </span>
              </>
            )}
          </dd>
        </dl>
      )}
      {state?.running !== undefined && (
        <Progress label={words.title} done={0} total={0}>
          {visible(state.running.source)}: {words.stages[state.running.stage]}
          {words.begun}
          <Moment at={state.running['started-at']} />.
        </Progress>
      )}
      {state?.last !== undefined && state.running === undefined && <DrillOutcome result={state.last} />}
      {state !== undefined && <DrillForm catalog={catalog} state={state} onDone={() => (turn.value += 1)} />}
    </section>
  );
}

type FormProps = { readonly catalog: Catalog; readonly state: DrillState; readonly onDone: () => void };

function DrillForm({ catalog, state, onDone }: FormProps): ComponentChildren {
  const [which, way, secret, pin, isLook] = [useSignal(''), useSignal('passphrase'), useSignal(''), useSignal(''), useSignal(false)];
  const listed = useLoaded({ method: 'GET', path: paths.stored }).value;
  const [run, note] = [paths.run, paths.note].map((path) => catalog.entries.find((entry) => entry.path === path));
  if (run === undefined || note === undefined || typeof may(run.operation['x-operation'], run.path).value === 'object') return null;
  const stored = listed.state === 'there' ? (listed.answer.body as { readonly backups: readonly StoredBackup[] }).backups : [];
  const chosen = stored.find(({ file }) => file === which.value);
  const lacks =
    state.running !== undefined
      ? words.runsAlready
      : chosen === undefined && state.upload === undefined
        ? words.needsFile
        : secret.value === ''
          ? words.needsSecret
          : undefined;
  const body = {
    ...(chosen && { file: chosen.file }),
    ...(isLook.value && { 'look-only': true }),
    [way.value]: secret.value,
    ...(pin.value !== '' && { pin: pin.value }),
  };
  const begun = (): void => {
    [secret.value, pin.value] = ['', ''];
    onDone();
  };
  return (
    <>
      {listed.state === 'failed' && <Problem error={listed.error} />}
      {stored.length > 0 && (
        <div class="field">
          <label for="drill-which">{words.which}</label>
          <select id="drill-which" value={which.value} onChange={(event) => (which.value = event.currentTarget.value)}>
            <option value="">{words.uploaded}</option>
            {stored.map(({ file, bytes }) => (
              <option key={file} value={file}>
                {visible(file.slice(file.lastIndexOf('/') + 1))} ({sizeOf(bytes)})
              </option>
            ))}
          </select>
        </div>
      )}
      {chosen === undefined && <UploadField uploaded={state.upload?.bytes} onDone={onDone} />}
      <Act entry={run} names={[]} body={body} hasSecrets does={isLook.value ? words.lookNow : words.run} lacks={lacks} onDone={begun}>
        <fieldset>
          <legend>{words.opens}</legend>
          {(['passphrase', 'identity'] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="drill-way" checked={way.value === one} onChange={() => (way.value = one)} /> {words[one]}
            </label>
          ))}
        </fieldset>
        {way.value === 'identity' && <p class="help">{words.identityHelp}</p>}
        <SecretField id="drill-secret" label={way.value === 'identity' ? words.identity : words.passphrase} value={secret} />
        <SecretField id="drill-pin" label={words.pin} value={pin} />
        <label>
          <input type="checkbox" checked={isLook.value} onChange={(event) => (isLook.value = event.currentTarget.checked)} /> {words.look}
        </label>
      </Act>
      <NoteElsewhere note={note} onDone={onDone} />
    </>
  );
}

type NoteProps = { readonly note: Entry; readonly onDone: () => void };

function NoteElsewhere({ note, onDone }: NoteProps): ComponentChildren {
  const source = useSignal('');
  return (
    <details>
      <summary>{words.elsewhere}</summary>
      <p class="quiet">{words.elsewhereHelp}</p>
      <Act
        entry={note}
        names={[]}
        body={{ source: source.value }}
        does={words.note}
        lacks={source.value.trim() === '' ? words.needsSource : undefined}
        onDone={() => {
          source.value = '';
          onDone();
        }}
      >
        <div class="field">
          <label for="drill-source">{words.source}</label>
          <input id="drill-source" maxLength={200} value={source.value} onInput={(event) => (source.value = event.currentTarget.value)} />
        </div>
      </Act>
    </details>
  );
}

type SecretProps = { readonly id: string; readonly label: string; readonly value: Signal<string> };

function SecretField({ id, label, value }: SecretProps): ComponentChildren {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="password"
        autocomplete="new-password"
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
    </div>
  );
}

/** Sends the chosen file piece by piece: the browser holds no more than one of them. */
function UploadField({ uploaded, onDone }: { readonly uploaded: number | undefined; readonly onDone: () => void }): ComponentChildren {
  const sending = useSignal<{ readonly done: number; readonly all: number } | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const upload = async (file: File): Promise<void> => {
    error.value = undefined;
    try {
      for (let offset = 0; offset < file.size; offset += pieceBytes) {
        sending.value = { done: offset, all: file.size };
        const content = base64Of(new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer()));
        await send({ method: 'POST', path: paths.upload, body: { offset, content } });
      }
    } catch (thrown) {
      error.value = thrown;
    } finally {
      sending.value = undefined;
      onDone();
    }
  };
  return (
    <div class="field">
      <label for="drill-file">{words.file}</label>
      <input
        id="drill-file"
        type="file"
        disabled={sending.value !== undefined}
        onChange={({ currentTarget: { files } }) => files?.[0] !== undefined && void upload(files[0])}
      />
      {error.value !== undefined && <Problem error={error.value} />}
      {sending.value !== undefined ? (
        <Progress label={words.file} done={sending.value.done} total={sending.value.all}>
          {words.sent(sizeOf(sending.value.done), sizeOf(sending.value.all))}
        </Progress>
      ) : (
        uploaded !== undefined && <p class="help">{words.there(sizeOf(uploaded))}</p>
      )}
    </div>
  );
}
