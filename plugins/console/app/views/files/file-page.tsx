// Files and a key: what is dropped is signed, and with its signature beside it verified. The browser hashes; gigabytes stay where they are.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { Progress, sizeOf } from '../../marks/progress.tsx';
import { SaveButton, saveFile } from '../../marks/save-button.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { Exact } from '../../times/moments.tsx';
import { quote } from '../../../../../core/base/texts/quote.ts';
import { wayOf, type FileWay, type KeyState } from '../keys/state.ts';
import { isSignatureName, pairsOf, type Pair } from './pairs.ts';
import { hashOf, signFile, TooLong, verifyFile, VersionsHidden, type Made, type Verdict } from './signatures.ts';

const template = '/v1/state/keystore/transit-keys/{name}';

const words = {
  title: (name: string): string => `Files and ${name}`,
  drop: 'Drop files here, or choose them',
  about: {
    hash: 'A file alone is signed; a file together with its signature (the same name and .sig) is verified. The browser hashes it: only the hash is sent.',
    openpgp:
      'A file alone is signed; a file together with its signature (the same name and .asc) is verified. To sign, the browser hashes it; to verify, it is sent.',
    whole:
      'A file alone is signed; a file together with its signature (the same name and .sig) is verified. This cipher signs the file itself, so it is sent, and has to be small.',
  },
  neither: 'This key does not sign and does not verify.',
  tooLong: (most: number): string =>
    `This file is too long to be sent: ${sizeOf(most)} at most. Use keystorectl, or gpg with the public key.`,
  hidden: 'You may not see the versions of this key, so this signature cannot be judged here. Use keystorectl, or the public key.',
  alone:
    'This is a signature without its file, so it was not signed: drop both together, the signature by the name of the file and its ending.',
  unreadable: 'The browser could not read the file: choose it again.',
  command: {
    hash: 'Anybody verifies it with the public key:',
    openpgp: 'Anybody who has the public key verifies it:',
    whole: 'Anybody verifies it with the public key:',
  },
} as const;

type Outcome =
  | ({ readonly is: 'signed' } & Made)
  | ({ readonly is: 'verified' } & Verdict)
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'alone' }
  | { readonly is: 'working'; readonly doneBytes: number };
type Row = { readonly pair: Pair<File>; readonly outcome: Outcome };

export function FilePage({ catalog, path, place: { names } }: DrawnProps): ComponentChildren {
  const loaded = useLoaded({ method: 'GET', path: fillPath(template, names) }).value;
  const state = useKept(loaded)?.body as KeyState | undefined;
  const rows = useSignal<readonly Row[]>([]);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);
  const way = state === undefined ? undefined : wayOf(state);
  const take = async (files: readonly File[]): Promise<void> => {
    if (state === undefined || way === undefined) return;
    for (const pair of pairsOf(files)) {
      const index = rows.value.length;
      const show = (outcome: Outcome): void => {
        rows.value = rows.value.with(index, { pair, outcome });
      };
      rows.value = [...rows.value, { pair, outcome: { is: 'working', doneBytes: 0 } }];
      const work = { tell: (doneBytes: number): void => show({ is: 'working', doneBytes }), signal: controller.current.signal };
      try {
        show(await outcomeOf(state, pair, work));
      } catch (error) {
        show({ is: 'failed', error });
      }
    }
  };
  return (
    <>
      <Heading catalog={catalog} title={words.title(names.at(-1) ?? '')} path={`${path}/file`}>
        <p class="quiet">{way !== undefined && words.about[way]}</p>
      </Heading>
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {state === undefined && loaded.state === 'loading' && <Loading />}
      {state !== undefined &&
        (way === undefined ? (
          <p class="notice">
            {words.neither} <a href={hrefOf(path)}>Back to the key</a>
          </p>
        ) : (
          <DropZone onTake={(files) => void take(files)} />
        ))}
      {state !== undefined &&
        way !== undefined &&
        rows.value.map((row, index) => <Outcomes key={index} row={row} way={way} state={state} />)}
    </>
  );
}

async function outcomeOf(
  state: KeyState,
  { file, signature }: Pair<File>,
  work: { readonly tell: (doneBytes: number) => void; readonly signal: AbortSignal },
): Promise<Outcome> {
  if (signature !== undefined) return { is: 'verified', ...(await verifyFile(state, file, signature, work)) };
  if (isSignatureName(file.name)) return { is: 'alone' };
  const made = await signFile(state, file, work);
  saveFile(made.content, made.name);
  return { is: 'signed', ...made };
}

function DropZone({ onTake }: { readonly onTake: (files: readonly File[]) => void }): ComponentChildren {
  const isOver = useSignal(false);
  return (
    <label
      class={isOver.value ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        onTake([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <span>{words.drop}</span>
      <input
        type="file"
        multiple
        onChange={({ currentTarget }) => {
          onTake([...(currentTarget.files ?? [])]);
          // The same file can be chosen again.
          currentTarget.value = '';
        }}
      />
    </label>
  );
}

type OutcomesProps = { readonly row: Row; readonly way: FileWay; readonly state: KeyState };

function Outcomes({ row: { pair, outcome }, way, state }: OutcomesProps): ComponentChildren {
  const { name, size } = pair.file;
  const publicKey = outcome.is === 'signed' && way !== 'openpgp' ? state.keys?.[outcome.version] : undefined;
  return (
    <div class="card">
      <h2>
        <bdi>{visible(name)}</bdi> <span class="quiet">{sizeOf(size)}</span>
      </h2>
      <div role="status">
        {outcome.is === 'working' && (
          <Progress label={`Hashing ${visible(name)}`} done={outcome.doneBytes} total={size}>
            {sizeOf(outcome.doneBytes)} of {sizeOf(size)} hashed
          </Progress>
        )}
        {outcome.is === 'verified' && <VerdictOf verdict={outcome} signature={pair.signature?.name ?? ''} />}
        {outcome.is === 'signed' && <Chip tone="good">signed with version {outcome.version}</Chip>}
      </div>
      {outcome.is === 'signed' && (
        <>
          <div class="buttons">
            <SaveButton content={outcome.content} name={outcome.name}>
              Save the signature again
            </SaveButton>
            {publicKey !== undefined && (
              <SaveButton content={publicKey} name="public.pem">
                Save the public key
              </SaveButton>
            )}
          </div>
          <p class="quiet">{words.command[way]}</p>
          <pre>{commandOf(way, state, name, outcome.name)}</pre>
        </>
      )}
      {outcome.is === 'alone' && <p class="notice">{words.alone}</p>}
      {outcome.is === 'failed' && <Failure error={outcome.error} />}
    </div>
  );
}

function VerdictOf({ verdict, signature }: { readonly verdict: Verdict; readonly signature: string }): ComponentChildren {
  const { isValid, version, signedAt } = verdict;
  if (!isValid) return <Chip tone="bad">{visible(signature)} is not a signature of this key over this file</Chip>;
  return (
    <p>
      <Chip tone="good">
        {visible(signature)} is valid{version !== undefined && `, by version ${version}`}
      </Chip>{' '}
      {signedAt !== undefined && (
        <span class="quiet">
          signed <Exact at={signedAt} />
        </span>
      )}
    </p>
  );
}

function Failure({ error }: { readonly error: unknown }): ComponentChildren {
  if (error instanceof TooLong) return <p class="notice">{words.tooLong(error.mostBytes)}</p>;
  if (error instanceof VersionsHidden) return <p class="notice">{words.hidden}</p>;
  if (error instanceof DOMException) return <p class="notice">{words.unreadable}</p>;
  return <Problem error={error} />;
}

/** The command by which others verify, without the appliance. */
function commandOf(way: FileWay, state: KeyState, file: string, signature: string): string {
  // A name that begins with a hyphen would be an option.
  const [input, signed] = [quote(file.startsWith('-') ? `./${file}` : file), quote(signature)];
  if (way === 'openpgp') return `gpg --verify ${signed} ${input}`;
  if (way === 'whole') return `openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in ${input} -sigfile ${signed}`;
  return `openssl dgst -${hashOf(state)} -verify public.pem -signature ${signed} ${input}`;
}
