// Health of the appliance: one sentence, and each part with the reason if it has a problem.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { titleOf } from '../../description/catalog.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';

export const healthPath = '/v1/state/system/health';

type Part = { readonly name?: string; readonly state?: string; readonly reason?: string };

const sentences: Readonly<Record<string, readonly [tone: Tone, sentence: string]>> = {
  ok: ['good', 'Everything works.'],
  degraded: ['warn', 'Requests are served, and a person should act.'],
  down: ['bad', 'Some requests cannot be served.'],
  sealed: ['bad', 'The appliance is sealed: it waits for the PIN.'],
};

export function HealthCard({ turn }: { readonly turn: number }): ComponentChildren {
  const loaded = useLoaded({ method: 'GET', path: healthPath, otherStatuses: [503] }, turn).value;
  const answer = useKept(loaded);
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  if (answer === undefined) return <Loading />;
  const { status = '', ...report } = answer.body as Readonly<Record<string, unknown>> & { readonly status?: string };
  const [tone, sentence] = sentences[status] ?? ['warn', `The state is ${visible(status)}.`];
  const parts = partsOf(report);
  const troubled = parts.filter(({ reason }) => reason !== undefined);
  return (
    <section class={`card health ${tone}`} aria-labelledby="health-title">
      <div class="card-head">
        <h2 id="health-title">
          <Chip tone={tone}>{sentence}</Chip>
        </h2>
        <p>
          <a href={hrefOf(healthPath)}>Health as the API answers it</a>
        </p>
      </div>
      {troubled.length > 0 && (
        <ul class="reasons">
          {troubled.map(({ name = '', reason = '' }) => (
            <li key={name}>
              <strong>{visible(name)}</strong>: {visible(reason)}
            </li>
          ))}
        </ul>
      )}
      <ul class="facts">
        {parts.map(({ name = '', state = '', reason }) => (
          <li key={name}>
            <Chip tone={reason === undefined ? 'good' : tone}>
              {visible(name)} {state === 'up' ? 'works' : visible(state)}
            </Chip>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Tokens by their names, then the other parts. */
function partsOf(report: Readonly<Record<string, unknown>>): readonly Part[] {
  const { hsm, ...others } = report as Readonly<Record<string, Part>> & { readonly hsm?: { readonly tokens?: readonly Part[] } };
  const tokens = (hsm?.tokens ?? []).map((token) => ({ ...token, name: `Token ${token.name ?? ''}` }));
  const parts = Object.entries(others).flatMap(([name, part]) =>
    typeof part === 'object' && part !== null && typeof part.state === 'string' ? [{ ...part, name: titleOf(name) }] : [],
  );
  return [...tokens, ...parts];
}
