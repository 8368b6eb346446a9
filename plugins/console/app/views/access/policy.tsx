// A policy as a table of its rules, with the way to ask what it decides.
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { AllowedLink } from '../../parts/allowed.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { draftOf, operations, ruleIn, type Policy, type RuleDraft } from './policy-draft.ts';
import '../../style/access.css';

const check = '/v1/state/policy/check';

type PolicyState = Policy & { readonly warnings?: readonly string[] };

export function PolicyView({ place: { names }, turn }: DrawnProps): ComponentChildren {
  const [name = ''] = names;
  const loaded = useLoaded({ method: 'GET', path: fillPath('/v1/state/policy/policies/{name}', names) }, turn).value;
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  const policy = loaded.answer.body as PolicyState;
  const { rules } = draftOf(name, policy);
  return (
    <section class="card" aria-labelledby="rules-title">
      <div class="card-head">
        <h2 id="rules-title">Rules</h2>
        <AllowedLink operation="execute" path={check} href={hrefOf(check, { policies: name })}>
          Ask what it decides
        </AllowedLink>
      </div>
      {rules.length === 0 ? (
        <p class="quiet">No rules: it allows nothing.</p>
      ) : (
        <div class="table" role="region" tabIndex={0} aria-label="Table of rules">
          <table>
            <caption class="unseen">Rules of the policy</caption>
            <thead>
              <tr>
                <th scope="col">Paths</th>
                <th scope="col">Allows</th>
                <th scope="col">Rejects</th>
                <th scope="col">Limits</th>
              </tr>
            </thead>
            <tbody>
              {rules.map((rule, index) => (
                <RuleCells key={rule.id} rule={rule} warning={policy.warnings?.find((one) => ruleIn(one) === index)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function RuleCells({ rule, warning }: { readonly rule: RuleDraft; readonly warning: string | undefined }): ComponentChildren {
  const saying = (effect: 'allow' | 'reject'): string =>
    operations
      .filter((operation) => rule.effects[operation] === effect)
      .map((operation) => (operation === 'all' ? 'anything else' : operation))
      .join(', ');
  return (
    <tr>
      <th scope="row">
        <code>{visible(rule.path)}</code>
        {warning !== undefined && (
          <div>
            <Chip tone="warn">{visible(warning)}</Chip>
          </div>
        )}
      </th>
      <td>{saying('allow')}</td>
      <td>{saying('reject')}</td>
      <td>
        {rule.allowedValues !== '' && <code>{visible(rule.allowedValues, 'lines')}</code>}
        {rule.hideFields !== '' && <div>hides {visible(rule.hideFields)}</div>}
      </td>
    </tr>
  );
}
