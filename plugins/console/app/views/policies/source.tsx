// A policy as the API has it, beside its rules: to read, to copy, and to change as a whole.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { plainInput } from '../../forms/controls/control.ts';
import { CopyButton } from '../../parts/copy-button.tsx';

type SourceProps = { readonly body: object; readonly onChange: (policy: Readonly<Record<string, unknown>>) => void };

export function Source({ body, onChange }: SourceProps): ComponentChildren {
  const typed = useSignal<string | undefined>(undefined);
  const problem = useSignal('');
  const text = typed.value ?? JSON.stringify(body, null, 2);
  const take = (): void => {
    try {
      const read: unknown = JSON.parse(text);
      if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new SyntaxError('it is not an object');
      onChange(read as Readonly<Record<string, unknown>>);
      typed.value = undefined;
      problem.value = '';
    } catch (error) {
      problem.value = `This is not JSON of a policy: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  return (
    <details class="panel">
      <summary>As JSON</summary>
      <div class="field">
        <label for="policy-source">The policy as JSON</label>
        <textarea
          id="policy-source"
          class="code"
          rows={14}
          {...plainInput}
          {...(problem.value === '' ? {} : { 'aria-invalid': true, 'aria-describedby': 'policy-source-problem' })}
          value={text}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        {problem.value !== '' && (
          <p class="field-problem" id="policy-source-problem">
            {problem.value}
          </p>
        )}
        <div class="buttons">
          <button type="button" disabled={typed.value === undefined} onClick={take}>
            Take it into the rules
          </button>
          <CopyButton text={text} what="policy" />
        </div>
      </div>
    </details>
  );
}
