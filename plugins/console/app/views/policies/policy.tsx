// A policy as a table of its rules, with the way to ask what it decides.
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { AllowedLink } from '../../parts/allowed.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { useHolders } from './holders.ts';
import { deedsOf, judgeOf } from './judged.ts';
import { Matrix } from './matrix.tsx';
import { besideRule, draftOf, operations, ruleIn, type Policy, type RuleDraft } from './policy-draft.ts';
import '../../style/access.css';

const check = '/v1/state/policy/check';

type PolicyState = Policy & { readonly warnings?: readonly string[] };

export function PolicyView({ catalog, place: { names }, turn }: DrawnProps): ComponentChildren {
  const [name = ''] = names;
  const loaded = useLoaded({ method: 'GET', path: fillPath('/v1/state/policy/policies/{name}', names) }, turn).value;
  if (loaded.state === 'loading') return <Loading />;
  // The page below says why.
  if (loaded.state === 'failed') return null;
  const policy = loaded.answer.body as PolicyState;
  const { rules } = draftOf(name, policy);
  const own = [{ name, policy }];
  return (
    <>
      <section class="card" aria-labelledby="matrix-title">
        <h2 id="matrix-title">What it allows</h2>
        <Matrix deeds={deedsOf(catalog, own)} judge={judgeOf(own)} />
      </section>
      <HoldersOf policy={name} />
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
          <DataTable
            label="Table of rules"
            columns={columns}
            rows={rules.map((rule, index) => ({ rule, warning: policy.warnings?.find((one) => ruleIn(one) === index) }))}
            keyOf={({ rule: { id } }) => id}
          />
        )}
      </section>
    </>
  );
}

/** Lists the holders of the policy, with the way to what each token may do. */
function HoldersOf({ policy }: { readonly policy: string }): ComponentChildren {
  const holders = useHolders(policy).value;
  if (holders === undefined) return null;
  const { tokens, applications, roles, isPart } = holders;
  return (
    <section class="card" aria-labelledby="holders-title">
      <h2 id="holders-title">Who has it</h2>
      {tokens.length + applications.length + roles.length === 0 && <p class="quiet">Nobody{isPart && ', as far as you may see'}.</p>}
      <ul class="facts">
        {applications.slice(0, mostHolders).map((one) => (
          <li key={one}>
            <a href={hrefOf(`/v1/config/keystore/authentication/approles/${encodeURIComponent(one)}`)}>
              <bdi>{visible(one)}</bdi>
            </a>
          </li>
        ))}
        {roles.slice(0, mostHolders).map((one) => (
          <li key={one}>
            <bdi>{visible(one)}</bdi>
          </li>
        ))}
        {tokens.slice(0, mostHolders).map(({ accessor, user }) => (
          <li key={accessor}>
            <a href={hrefOf(check, { accessor })}>
              token of <bdi>{visible(user)}</bdi>, {accessor.slice(0, 8)}
            </a>
          </li>
        ))}
        {tokens.length > mostHolders && <li class="quiet">and {(tokens.length - mostHolders).toLocaleString(locale)} more tokens</li>}
      </ul>
    </section>
  );
}

/** Of each kind. */
const mostHolders = 20;

type RuleRow = { readonly rule: RuleDraft; readonly warning: string | undefined };

const columns: readonly Column<RuleRow>[] = [
  {
    head: 'Paths',
    is: 'name',
    cell: ({ rule, warning }) => (
      <>
        <code>{visible(rule.path)}</code>
        {warning !== undefined && (
          <div>
            <Chip tone="warn">{visible(besideRule(warning))}</Chip>
          </div>
        )}
      </>
    ),
  },
  { head: 'Allows', cell: ({ rule }) => saying(rule, 'allow') },
  { head: 'Rejects', cell: ({ rule }) => saying(rule, 'reject') },
  {
    head: 'Limits',
    cell: ({ rule: { allowedValues, hideFields } }) =>
      (allowedValues !== '' || hideFields !== '') && (
        <>
          {allowedValues !== '' && <code>{visible(allowedValues, 'lines')}</code>}
          {hideFields !== '' && <div>hides {visible(hideFields)}</div>}
        </>
      ),
  },
];

function saying({ effects }: RuleDraft, effect: 'allow' | 'reject'): string {
  return operations
    .filter((operation) => effects[operation] === effect)
    .map((operation) => (operation === 'all' ? 'anything else' : operation))
    .join(', ');
}
