// Rule of a policy: its path, its effect on each operation, and its restrictions.
import type { ComponentChildren } from 'preact';
import { Chip } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';
import { operations, type Effect, type RuleDraft } from './policy-draft.ts';

export type RuleRowProps = {
  readonly rule: RuleDraft;
  readonly number: number;
  /** operations that its path covers, in words */
  readonly covers: string;
  /** verdict of the appliance */
  readonly said: { readonly tone: 'warn' | 'bad'; readonly text: string } | undefined;
  readonly onChange: (part: Partial<RuleDraft>) => void;
  readonly onRemove: () => void;
};

const plain = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;

/** Long because it is one view from top to bottom. */
export function RuleRow({ rule, number, covers, said, onChange, onRemove }: RuleRowProps): ComponentChildren {
  const { id, path, effects, allowedValues, hideFields } = rule;
  const described =
    said === undefined ? {} : { 'aria-describedby': `rule-${id}-said`, ...(said.tone === 'bad' ? { 'aria-invalid': true } : {}) };
  const setEffect = (operation: (typeof operations)[number], value: string): void => {
    const { [operation]: _, ...others } = effects;
    onChange({ effects: value === '' ? others : { ...others, [operation]: value as Effect } });
  };
  return (
    <li class={said?.tone === 'bad' ? 'rule wrong' : 'rule'}>
      <div class="field">
        <label for={`rule-${id}-path`}>Rule {number}: paths</label>
        <div class="with-button">
          <input
            id={`rule-${id}-path`}
            type="text"
            class="code"
            list="policy-paths"
            placeholder="/v1/state/keystore/transit-keys/*/encrypt"
            {...plain}
            {...described}
            value={path}
            onInput={(event) => onChange({ path: event.currentTarget.value })}
          />
          <button type="button" aria-label={`Remove rule ${number}`} onClick={onRemove}>
            Remove
          </button>
        </div>
        {path !== '' && <p class="help">{visible(covers)}</p>}
        {said !== undefined && (
          <p id={`rule-${id}-said`}>
            <Chip tone={said.tone}>{visible(said.text)}</Chip>
          </p>
        )}
      </div>
      <div class="effects" role="group" aria-label={`What rule ${number} says`}>
        {operations.map((operation) => (
          <label key={operation} class={`effect ${effects[operation] ?? ''}`}>
            <span>{operation === 'all' ? 'anything else' : operation}</span>
            <select value={effects[operation] ?? ''} onChange={(event) => setEffect(operation, event.currentTarget.value)}>
              <option value="">says nothing</option>
              <option value="allow">allow</option>
              <option value="reject">reject</option>
            </select>
          </label>
        ))}
      </div>
      <details open={allowedValues !== '' || hideFields !== ''}>
        <summary>Values and fields</summary>
        <div class="field">
          <label for={`rule-${id}-values`}>Allowed values</label>
          <p class="help" id={`rule-${id}-values-help`}>
            A field a line, with the values that requests may give it: <code>cipher: aes256-gcm96, ecdsa-p256</code>
          </p>
          <textarea
            id={`rule-${id}-values`}
            rows={2}
            class="code"
            aria-describedby={`rule-${id}-values-help`}
            {...plain}
            value={allowedValues}
            onInput={(event) => onChange({ allowedValues: event.currentTarget.value })}
          />
        </div>
        <div class="field">
          <label for={`rule-${id}-hidden`}>Hidden fields</label>
          <p class="help" id={`rule-${id}-hidden-help`}>
            Left out of answers, with spaces between them: <code>usage keys</code>
          </p>
          <input
            id={`rule-${id}-hidden`}
            type="text"
            class="code"
            aria-describedby={`rule-${id}-hidden-help`}
            {...plain}
            value={hideFields}
            onInput={(event) => onChange({ hideFields: event.currentTarget.value })}
          />
        </div>
      </details>
    </li>
  );
}
