// "Explain this login": which roles claims match, which policies a sign-in gets, and why it failed.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { fillPath, parentOf } from '../../address/path.ts';
import { address, go, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { send } from '../../api/request.ts';
import { Act } from '../../forms/act.tsx';
import { prepareForm } from '../../forms/prepared.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { Exact } from '../../times/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import '../../style/access.css';
import { exact } from '../../parts/typed.ts';

type Role = {
  readonly name: string;
  readonly matches: boolean;
  readonly grants: boolean;
  readonly 'missing-claims': readonly string[];
  readonly reason: string;
};

type Explanation = {
  readonly outcome: string;
  readonly explanation: string;
  readonly 'role-claim': string;
  readonly 'role-claim-values'?: number;
  readonly roles: readonly Role[];
  readonly policies: readonly string[];
  readonly 'unknown-policies': readonly string[];
  readonly username?: string;
  readonly fullname?: string;
  readonly notes: readonly string[];
  readonly login?: {
    readonly stage: string;
    readonly code: string;
    readonly reason: string;
    readonly hint?: string;
    readonly 'occurred-at': string;
  };
};

const example = '{\n  "sub": "248289761001",\n  "email": "ada@example.com",\n  "groups": ["operators"]\n}';

/** Long because it is one view from top to bottom. */
export function ExplainView({ catalog, place: { entries, names }, path }: DrawnProps): ComponentChildren {
  const kept = address.peek().query.get('login') ?? '';
  const way = useSignal<'login' | 'claims'>('login');
  const login = useSignal(kept);
  const claims = useSignal('');
  const found = useSignal<Explanation | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const [entry] = entries;
  const [service = ''] = names;
  const isAllowed = may('execute', path).value === 'yes';
  useEffect(() => {
    if (kept === '' || !isAllowed) return;
    send({ method: 'POST', path, body: { login: kept } }).then(
      (answer) => (found.value = answer.body as Explanation),
      (thrown: unknown) => (error.value = thrown),
    );
  }, [isAllowed]);
  if (entry === undefined) return null;
  const document = parse(claims.value);
  const isLogin = way.value === 'login';
  const lacks = isLogin
    ? login.value.trim() === ''
      ? 'The reference is missing.'
      : undefined
    : document === undefined
      ? 'The claims are not a JSON object yet.'
      : undefined;
  const done = (explanation: Explanation): void => {
    found.value = explanation;
    error.value = undefined;
    go(hrefOf(path, isLogin ? { login: login.value.trim() } : {}), 'replace');
  };
  /** The answer to another question goes. */
  const ask = (change: () => unknown): void => {
    change();
    found.value = undefined;
    error.value = undefined;
  };
  return (
    <>
      <Heading catalog={catalog} title="Explain a login" path={path}>
        <p class="quiet">
          At the service{' '}
          <a href={hrefOf(parentOf(fillPath('/v1/config/keystore/authentication/oidc/{name}/x', [service])))}>
            <bdi>{visible(service)}</bdi>
          </a>
          : why a sign-in failed, or what somebody with certain claims would get. Nobody signs in.
        </p>
      </Heading>
      <section class="card">
        <Act
          entry={entry}
          names={names}
          body={isLogin ? { login: login.value.trim() } : { claims: document }}
          does="Explain"
          lacks={lacks}
          hasSecrets={!isLogin}
          onDone={({ body }) => done(body as Explanation)}
        >
          <fieldset class="choices">
            <legend>Explain</legend>
            <label>
              <input type="radio" name="way" checked={isLogin} onChange={() => ask(() => (way.value = 'login'))} /> a sign-in that failed
            </label>
            <label>
              <input type="radio" name="way" checked={!isLogin} onChange={() => ask(() => (way.value = 'claims'))} /> claims
            </label>
          </fieldset>
          {isLogin ? (
            <div class="field">
              <label for="explain-login">Reference</label>
              <p class="help" id="explain-login-help">
                It is on the page that the person saw, and is known for a day.
              </p>
              <input
                id="explain-login"
                type="text"
                {...exact}
                aria-describedby="explain-login-help"
                value={login.value}
                onInput={({ currentTarget: { value } }) => ask(() => (login.value = value))}
              />
            </div>
          ) : (
            <div class="field">
              <label for="explain-claims">Claims, as JSON</label>
              <textarea
                id="explain-claims"
                rows={8}
                class="code"
                {...exact}
                placeholder={example}
                value={claims.value}
                onInput={({ currentTarget: { value } }) => ask(() => (claims.value = value))}
              />
            </div>
          )}
        </Act>
      </section>
      {error.value !== undefined && <Problem error={error.value} />}
      {found.value !== undefined && <Explained explanation={found.value} service={service} claims={isLogin ? undefined : document} />}
    </>
  );
}

type ExplainedProps = { readonly explanation: Explanation; readonly service: string; readonly claims: object | undefined };

function Explained({ explanation, service, claims }: ExplainedProps): ComponentChildren {
  const { outcome, roles, policies, notes, username, fullname, login } = explanation;
  const isSignedIn = outcome === 'signed-in';
  const unknown = new Set(explanation['unknown-policies']);
  const rolePath = `/v1/config/keystore/authentication/oidc/${encodeURIComponent(service)}/roles`;
  return (
    <section class={`card verdict ${isSignedIn ? 'good' : 'bad'}`} role="status" aria-label="Explanation">
      <h2>
        <Chip tone={isSignedIn ? 'good' : 'bad'}>{isSignedIn ? 'Would be signed in' : `Refused: ${visible(outcome)}`}</Chip>
      </h2>
      <p>{visible(explanation.explanation)}</p>
      <dl>
        {login !== undefined && (
          <>
            <dt>Failed</dt>
            <dd>
              <Exact at={login['occurred-at']} />, at the step {visible(login.stage)} ({visible(login.reason)})
            </dd>
            {login.hint !== undefined && (
              <>
                <dt>What to do</dt>
                <dd>{visible(login.hint)}</dd>
              </>
            )}
          </>
        )}
        {username !== undefined && (
          <>
            <dt>User</dt>
            <dd>
              <bdi>{visible(username)}</bdi> {fullname !== undefined && <bdi class="quiet">{visible(fullname)}</bdi>}
            </dd>
          </>
        )}
        <dt>Role claim</dt>
        <dd>
          <code>{visible(explanation['role-claim'])}</code>, {valuesOf(explanation['role-claim-values'])}
        </dd>
        <dt>Policies</dt>
        <dd>
          {policies.length === 0 ? (
            <span class="quiet">none: the session could do nothing</span>
          ) : (
            <ul class="plain">
              {policies.map((name) => (
                <li key={name}>
                  <bdi>{visible(name)}</bdi> {unknown.has(name) && <Chip tone="warn">does not exist, and grants nothing</Chip>}
                </li>
              ))}
            </ul>
          )}
        </dd>
      </dl>
      {roles.length > 0 && <DataTable label="Roles" columns={columnsOf(rolePath)} rows={roles} keyOf={({ name }) => name} />}
      <MissingRoles explanation={explanation} claims={claims} rolePath={rolePath} />
      {notes.length > 0 && (
        <ul class="reasons">
          {notes.map((note) => (
            <li key={note}>{visible(note)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

type MissingProps = { readonly explanation: Explanation; readonly claims: object | undefined; readonly rolePath: string };

/** Values of the role claim that no role is made for, each with the way to make it. The person who asks has typed them. */
function MissingRoles({ explanation, claims, rolePath }: MissingProps): ComponentChildren {
  const value = (claims as Readonly<Record<string, unknown>> | undefined)?.[explanation['role-claim']];
  const known = new Set(explanation.roles.map(({ name }) => name));
  const missing = [value].flat().filter((one): one is string => typeof one === 'string' && !known.has(one));
  if (missing.length === 0) return null;
  return (
    <div class="stack">
      <h3>What to do</h3>
      <ul class="plain">
        {missing.slice(0, mostMissing).map((name) => (
          <li key={name}>
            <a href={hrefOf(rolePath, { do: 'create' })} onClick={() => prepareForm(rolePath, { name })}>
              Make a role of <bdi>{visible(name)}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

const mostMissing = 10;

function columnsOf(rolePath: string): readonly Column<Role>[] {
  return [
    {
      head: 'Role',
      is: 'name',
      cell: ({ name }) => (
        <a href={hrefOf(`${rolePath}/${encodeURIComponent(name)}`)}>
          <bdi>{visible(name)}</bdi>
        </a>
      ),
    },
    { head: 'Gives its policies', cell: ({ grants }) => <Chip tone={grants ? 'good' : 'quiet'}>{grants ? 'yes' : 'no'}</Chip> },
    { head: 'Why', cell: ({ reason }) => visible(reason) },
  ];
}

function valuesOf(count: number | undefined): string {
  if (count === undefined) return 'which is missing';
  return count === 1 ? 'with one value' : `with ${count.toLocaleString(locale)} values`;
}

/** Parses a JSON object; undefined for other text. */
function parse(text: string): object | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
