// Trying a key in place: encrypt and decrypt, or sign and verify. Nothing of it is kept when the page is left.
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { base64OfText, textOfBase64 } from '../../api/base64.ts';
import { may } from '../../api/may.ts';
import { send, type Request } from '../../api/request.ts';
import { CopyAsCommand } from '../../commands/copy-as-command.tsx';
import type { Commanded } from '../../commands/commands.ts';
import type { Catalog, Entry } from '../../description/catalog.ts';
import { Chip } from '../../parts/chip.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Problem } from '../../parts/problem.tsx';
import { can, type KeyState } from './state.ts';
import { exact } from '../../parts/typed.ts';

const template = '/v1/state/keystore/transit-keys/{name}';

export type TryProps = {
  readonly catalog: Catalog;
  readonly names: readonly string[];
  readonly state: KeyState;
  readonly onUsed: () => void;
};

/** The two ways through a key: to a value, and back or to a verdict. */
type Way = {
  readonly action: string;
  readonly does: string;
  readonly bodyOf: (texts: Texts) => Readonly<Record<string, unknown>>;
  /** stores the answer in the texts and returns a sentence about it */
  readonly take: (answer: Readonly<Record<string, unknown>>, texts: Signals) => string;
};

type Texts = { readonly clear: string; readonly value: string; readonly context: string };
type Signals = { readonly clear: Signal<string>; readonly value: Signal<string>; readonly context: Signal<string> };

const encryption: readonly Way[] = [
  {
    action: 'encrypt',
    does: 'Encrypt',
    bodyOf: ({ clear, context }) => ({ plaintext: base64OfText(clear), ...contextOf(context) }),
    take: ({ ciphertext, 'key-version': version }, { value }) => {
      value.value = String(ciphertext);
      return `Encrypted with version ${String(version)}.`;
    },
  },
  {
    action: 'decrypt',
    does: 'Decrypt',
    bodyOf: ({ value, context }) => ({ ciphertext: value.trim(), ...contextOf(context) }),
    take: ({ plaintext, 'key-version': version }, { clear }) => {
      const text = textOfBase64(String(plaintext));
      clear.value = text ?? String(plaintext);
      return `Decrypted with version ${String(version)}.${text === undefined ? ' It is not text: base64 is shown.' : ''}`;
    },
  },
];

const signing: readonly Way[] = [
  {
    action: 'sign',
    does: 'Sign',
    bodyOf: ({ clear }) => ({ text: base64OfText(clear) }),
    take: ({ signature, 'key-version': version }, { value }) => {
      value.value = String(signature);
      return `Signed with version ${String(version)}.`;
    },
  },
  {
    action: 'verify',
    does: 'Verify',
    bodyOf: ({ clear, value }) => ({ text: base64OfText(clear), signature: value.trim() }),
    take: ({ valid, 'key-version': version }) =>
      valid === true ? `The signature is valid, by version ${String(version)}.` : 'The signature does not fit this text.',
  },
];

export function TryKey({ catalog, names, state, onUsed }: TryProps): ComponentChildren {
  const texts: Signals = { clear: useSignal(''), value: useSignal(''), context: useSignal('') };
  const error = useSignal<unknown>(undefined);
  const said = useSignal('');
  const last = useSignal<Commanded | undefined>(undefined);
  const encrypts = state['supports-encryption'] === true;
  const ways = (encrypts ? encryption : signing).filter(({ action }) => can(state, action));
  const run = async (way: Way, entry: Entry): Promise<void> => {
    const { clear, value, context } = texts;
    error.value = undefined;
    said.value = '';
    try {
      const body = way.bodyOf({ clear: clear.value, value: value.value, context: context.value });
      const request: Request = { method: 'POST', path: fillPath(entry.path, names), body };
      last.value = { entry, names, request, hasSecrets: false };
      const answer = await send(request);
      said.value = way.take(answer.body as Readonly<Record<string, unknown>>, texts);
      onUsed();
    } catch (thrown) {
      error.value = thrown;
    }
  };
  return (
    <section class="card" aria-labelledby="try-title">
      <h2 id="try-title">Try it</h2>
      <p class="quiet">What you type is sent to this appliance, is not kept, and does not appear in the audit trail. The use does.</p>
      <div class="try">
        <TextField id="try-clear" label={encrypts ? 'Plaintext' : 'Text'} text={texts.clear} />
        <TextField id="try-value" label={encrypts ? 'Ciphertext' : 'Signature'} text={texts.value} isCode />
      </div>
      {state.derived === true && (
        <TextField id="try-context" label="Context (this key is derived: each context has a key of its own)" text={texts.context} />
      )}
      <div class="buttons">
        {ways.map((way) => (
          <TryButton key={way.action} way={way} entry={entryOf(catalog, way.action)} names={names} onRun={run} />
        ))}
        <span role="status">
          {said.value !== '' && <Chip tone={said.value.includes('does not fit') ? 'bad' : 'good'}>{said.value}</Chip>}
        </span>
      </div>
      {error.value !== undefined && <Problem error={error.value} />}
      {last.value !== undefined && <CopyAsCommand commanded={last.value} />}
    </section>
  );
}

function entryOf({ entries }: Catalog, action: string): Entry | undefined {
  return entries.find(({ path }) => path === `${template}/${action}`);
}

type TryButtonProps = {
  readonly way: Way;
  readonly entry: Entry | undefined;
  readonly names: readonly string[];
  readonly onRun: (way: Way, entry: Entry) => Promise<void>;
};

function TryButton({ way, entry, names, onRun }: TryButtonProps): ComponentChildren {
  const isSending = useSignal(false);
  if (entry === undefined) return null;
  const said = may(entry.operation['x-operation'], fillPath(entry.path, names)).value;
  if (typeof said === 'object')
    return (
      <span class="quiet">
        {way.does} is not allowed: {said.no}
      </span>
    );
  const run = async (): Promise<void> => {
    if (isSending.value) return;
    isSending.value = true;
    await onRun(way, entry);
    isSending.value = false;
  };
  return (
    <button type="button" aria-busy={isSending.value} onClick={() => void run()}>
      {way.does}
    </button>
  );
}

type TextFieldProps = { readonly id: string; readonly label: string; readonly text: Signal<string>; readonly isCode?: true };

function TextField({ id, label, text, isCode }: TextFieldProps): ComponentChildren {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={4}
        class={isCode === true ? 'code' : ''}
        {...exact}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      {isCode === true && text.value !== '' && <CopyButton text={text.value} what={label} />}
    </div>
  );
}

function contextOf(context: string): Readonly<Record<string, string>> {
  return context === '' ? {} : { context: base64OfText(context) };
}
