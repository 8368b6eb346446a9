// "May X do Y?": asks the appliance what the policies decide, and shows the rule that decides.
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, go, hrefOf } from '../../address/router.ts';
import { send } from '../../api/request.ts';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { EntryPicker } from '../../forms/controls/entry-picker.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { said } from '../../language/language.ts';
import '../../style/access.css';
import '../../style/making.css';
import { exact } from '../../parts/typed.ts';

const policies = '/v1/config/policy/policies';
const operations = ['create', 'read', 'update', 'delete', 'execute'] as const;

/** Subjects of a check. */
const whoms = { own: said('I'), accessor: 'Another token', policies: 'A token with these policies' } as const;
type Whom = keyof typeof whoms;

type Decision = {
  readonly allowed: boolean;
  readonly rule?: string;
  readonly policy?: string;
  readonly 'decided-by': 'tenant' | 'token' | 'service';
  readonly restricted: boolean;
  readonly why: string;
};

type Asked = { readonly path: string; readonly operation: string; readonly accessor?: string; readonly policies?: readonly string[] };

/** Long because it is one view from top to bottom. */
export function CheckView({ catalog, place: { entries }, path }: DrawnProps): ComponentChildren {
  const { query } = address.peek();
  const whom = useSignal<Whom>(query.has('accessor') ? 'accessor' : query.has('policies') ? 'policies' : 'own');
  const texts = {
    accessor: useSignal(query.get('accessor') ?? ''),
    policies: useSignal((query.get('policies') ?? '').split(',').join('\n')),
    path: useSignal(query.get('path') ?? ''),
    operation: useSignal(query.get('operation') ?? 'read'),
  };
  const decision = useSignal<Decision | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const [entry] = entries;
  const names = texts.policies.value.split(/[\s,]+/).filter((name) => name !== '');
  const body: Asked = {
    path: texts.path.value.trim(),
    operation: texts.operation.value,
    ...(whom.value === 'accessor' ? { accessor: texts.accessor.value.trim() } : {}),
    ...(whom.value === 'policies' ? { policies: names } : {}),
  };
  // A kept address asks by itself what it says.
  useEffect(() => {
    if (!query.has('path')) return;
    send({ method: 'POST', path, body }).then(
      (answer) => (decision.value = answer.body as Decision),
      (thrown: unknown) => (error.value = thrown),
    );
  }, []);
  if (entry === undefined) return null;
  const answered = (found: Decision): void => {
    decision.value = found;
    error.value = undefined;
    const { policies: some, ...others } = body;
    go(hrefOf(path, { ...others, ...(some === undefined ? {} : { policies: some.join(',') }) }), 'replace');
  };
  return (
    <>
      <Heading catalog={catalog} title="May they do this?" path={path}>
        <p class="quiet">The same decision as for a request, with the rule that makes it. Nothing is done.</p>
      </Heading>
      <section class="card">
        <Act
          entry={entry}
          names={[]}
          body={body}
          does="Ask"
          lacks={body.path.startsWith('/v1/') ? undefined : 'A path begins with /v1/.'}
          onDone={(answer) => answered(answer.body as Decision)}
        >
          <fieldset class="choices">
            <legend>May</legend>
            {Object.entries(whoms).map(([value, label]) => (
              <label key={value}>
                <input type="radio" name="whom" checked={whom.value === value} onChange={() => (whom.value = value as Whom)} /> {label}
              </label>
            ))}
          </fieldset>
          {whom.value === 'accessor' && (
            <PickRow
              id="check-accessor"
              label="Token"
              help="By its accessor, or the name of who holds it."
              resource="keystore/tokens"
              catalog={catalog}
              text={texts.accessor}
            />
          )}
          {whom.value === 'policies' && (
            <PickRow
              id="check-policies"
              label="Policies"
              help="All that it would have."
              resource="policy/policies"
              catalog={catalog}
              text={texts.policies}
              isList
            />
          )}
          <div class="field">
            <label for="check-operation">do</label>
            <select
              id="check-operation"
              value={texts.operation.value}
              onChange={(event) => (texts.operation.value = event.currentTarget.value)}
            >
              {operations.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </div>
          <PathRow catalog={catalog} path={texts.path} operation={texts.operation} />
        </Act>
      </section>
      {error.value !== undefined && <Problem error={error.value} />}
      {decision.value !== undefined && <Verdict decision={decision.value} />}
    </>
  );
}

type PickRowProps = {
  readonly id: string;
  readonly label: string;
  readonly help: string;
  readonly resource: string;
  readonly catalog: Catalog;
  readonly text: Signal<string>;
  readonly isList?: boolean;
};

function PickRow({ id, label, help, resource, catalog, text, isList = false }: PickRowProps): ComponentChildren {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="help" id={`${id}-help`}>
        {help}
      </p>
      <EntryPicker
        id={id}
        help={`${id}-help`}
        resource={resource}
        document={catalog.document}
        value={text.value}
        isList={isList}
        onChange={(value) => (text.value = value)}
      />
    </div>
  );
}

/** The path, with the paths that there are, and which operations requests to it need. */
function PathRow({
  catalog,
  path,
  operation,
}: {
  readonly catalog: Catalog;
  readonly path: Signal<string>;
  readonly operation: Signal<string>;
}): ComponentChildren {
  const place = catalog.at(path.value.trim());
  const here = (place?.entries ?? []).filter((entry) => entry.path.split('/')[2] === path.value.split('/')[2]);
  const needed = new Map(here.map((entry) => [entry.operation['x-operation'] ?? '', `${entry.method}: ${entry.operation.summary}`]));
  needed.delete('');
  return (
    <div class="field">
      <label for="check-path">at this path</label>
      <p class="help" id="check-path-help">
        As in a request, with names in it: <code>/v1/config/keystore/transit-keys/orders</code>
      </p>
      <input
        id="check-path"
        type="text"
        list="check-paths"
        {...exact}
        aria-describedby="check-path-help"
        value={path.value}
        onInput={(event) => (path.value = event.currentTarget.value)}
      />
      <datalist id="check-paths">
        {[...new Set(catalog.entries.map((entry) => entry.path))].map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {needed.size > 0 && (
        <ul class="plain quiet">
          {[...needed].map(([name, summary]) => (
            <li key={name}>
              <button type="button" class="small" aria-pressed={operation.value === name} onClick={() => (operation.value = name)}>
                {name}
              </button>{' '}
              {summary}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const deciders: Readonly<Record<Decision['decided-by'], string>> = {
  tenant: 'the policies of the tenant',
  token: 'the policies of the token',
  service: 'the service itself, which asks it of every caller',
};

function Verdict({ decision }: { readonly decision: Decision }): ComponentChildren {
  const { allowed, rule, policy, restricted, why } = decision;
  return (
    <section class={`card verdict ${allowed ? 'good' : 'bad'}`} role="status" aria-label="Answer">
      <h2>
        <Chip tone={allowed ? 'good' : 'bad'}>{allowed ? 'Yes' : 'No'}</Chip>
      </h2>
      <p>{visible(why)}</p>
      <dl>
        <dt>Decided by</dt>
        <dd>{deciders[decision['decided-by']]}</dd>
        {policy !== undefined && (
          <>
            <dt>Policy</dt>
            <dd>
              <a href={hrefOf(`${policies}/${encodeURIComponent(policy)}`)}>
                <bdi>{visible(policy)}</bdi>
              </a>
            </dd>
          </>
        )}
        <dt>Rule</dt>
        <dd>{rule === undefined ? 'none: what no rule allows is refused' : <code>{visible(rule)}</code>}</dd>
      </dl>
      {restricted && <p class="notice">Rules limit the values of fields there, or hide fields: not every request is answered in full.</p>}
    </section>
  );
}
