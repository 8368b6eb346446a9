// Opening a tenant that allows it, to read it: with the reason, which the tenant sees.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { go, hrefOf } from '../../address/router.ts';
import { beginVisit, visit, type Visit } from '../../api/visit.ts';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';

const path = '/v1/state/tenants/{name}/open-as';
const fewest = 10;

const words = {
  title: 'Open as',
  about:
    'You read its configuration and state for 15 minutes, where the tenant has allowed it. It sees that you do, and why; your reason is in both audit trails.',
  reason: 'Reason',
  lacks: 'Say why, in 10 characters or more.',
  does: 'Open to read',
} as const;

export function OpenAs({ catalog, name }: { readonly catalog: Catalog; readonly name: string }): ComponentChildren {
  const reason = useSignal('');
  const entry = catalog.entries.find((one) => one.path === path);
  if (entry === undefined || name === 'system' || visit.value !== undefined) return null;
  return (
    <section class="card" aria-labelledby="open-as-title">
      <h2 id="open-as-title">{words.title}</h2>
      <p class="quiet">{words.about}</p>
      <Act
        entry={entry}
        names={[name]}
        body={{ reason: reason.value.trim() }}
        does={words.does}
        lacks={reason.value.trim().length < fewest ? words.lacks : undefined}
        onDone={({ body }) => {
          beginVisit({ ...(body as Omit<Visit, 'reason'>), reason: reason.value.trim() });
          go(hrefOf(''));
        }}
      >
        <label for="open-as-reason">{words.reason}</label>
        <textarea id="open-as-reason" rows={2} maxLength={500} onInput={({ currentTarget }) => (reason.value = currentTarget.value)} />
      </Act>
    </section>
  );
}
