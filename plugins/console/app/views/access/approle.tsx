// Approle: the role-id with which a program logs in, its secret-ids, adding one, and the commands to log in.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import type { Catalog, Entry } from '../../description/catalog.ts';
import { SaveCa } from '../../commands/set-up.tsx';
import { Act } from '../../forms/act.tsx';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { ShownOnce } from '../../marks/shown-once.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import { useUntilEnd } from '../../marks/until-end.ts';
import { WhoUsed } from '../audit/who-used.tsx';
import { locale } from '../../language/language.ts';
import { loginCommand } from './login-command.ts';
import '../../style/access.css';

const template = '/v1/state/keystore/authentication/approles/{name}';

type SecretId = {
  readonly accessor: string;
  readonly 'creation-time': string;
  readonly expires?: string;
  readonly 'uses-left'?: number;
  readonly 'bound-cidrs'?: readonly string[];
};

/** Draws nothing if the state may not be read: the page below says why. */
export function ApproleView({ catalog, place: { names }, turn: asked }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const path = fillPath(template, names);
  const loaded = useSteady(useLoaded({ method: 'GET', path }, turn.value + asked).value);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const { 'role-id': roleId = '' } = loaded.answer.body as { readonly 'role-id'?: string };
  const again = (): void => void (turn.value += 1);
  return (
    <>
      <section class="card" aria-labelledby="login-title">
        <h2 id="login-title">How a program logs in</h2>
        <dl>
          <dt>Role-id</dt>
          <dd class="with-copy">
            <code>{visible(roleId)}</code> <CopyButton text={roleId} what="role-id" />
          </dd>
        </dl>
        <div class="long">
          <pre tabIndex={0} role="group" aria-label="Command that logs in">
            {visible(loginCommand(location.origin, roleId), 'lines')}
          </pre>
          <CopyButton text={loginCommand(location.origin, roleId)} what="command" />
        </div>
        <p class="quiet">
          Save <SaveCa />, the CA of this appliance, where you run it. The first line waits for the secret-id: paste it and press Enter. The
          answer has the token, and when it ends.
        </p>
      </section>
      <SecretIds catalog={catalog} names={names} turn={turn.value + asked} onChange={again} />
      <WhoUsed catalog={catalog} filter={{ who: names[0] ?? '' }} title="What it did" />
    </>
  );
}

type SecretIdsProps = {
  readonly catalog: Catalog;
  readonly names: readonly string[];
  readonly turn: number;
  readonly onChange: () => void;
};

function SecretIds({ catalog, names, turn, onChange }: SecretIdsProps): ComponentChildren {
  const made = useUntilEnd<string>();
  const ending = useSignal<SecretId | undefined>(undefined);
  const entryOf = (action: string): Entry | undefined => catalog.entries.find(({ path }) => path === `${template}/${action}`);
  const [generate, disable] = [entryOf('generate-secret-id'), entryOf('disable-secret-id')];
  const [name = ''] = names;
  const mayEnd = disable !== undefined && may(disable.operation['x-operation'], fillPath(disable.path, names)).value === 'yes';
  return (
    <section class="card" aria-labelledby="secrets-title">
      <h2 id="secrets-title">Secret-ids</h2>
      <SecretIdList
        path={`${fillPath(template, names)}/secret-ids`}
        turn={turn}
        onEnd={mayEnd ? (one) => (ending.value = one) : undefined}
      />
      {ending.value !== undefined && disable !== undefined && (
        <Act
          key={ending.value.accessor}
          entry={disable}
          names={names}
          body={{ accessor: ending.value.accessor }}
          does="End it"
          confirm={{ name: visible(name), what: 'This ends the secret-id: programs can no longer log in with it.' }}
          onDone={() => {
            ending.value = undefined;
            onChange();
          }}
        >
          <p>
            The secret-id <code>{visible(ending.value.accessor)}</code>
          </p>
        </Act>
      )}
      {made.value !== undefined && (
        <>
          <p>
            The new secret-id is shown this once. Together with the role-id it is a login: bring it to the program on a way that you trust.
          </p>
          <ShownOnce secret={made.value} what="secret-id" fileName={`${name}-secret-id.txt`} />
        </>
      )}
      {generate !== undefined && (
        <Act
          entry={generate}
          names={names}
          body={{}}
          does={made.value === undefined ? 'Make a secret-id' : 'Make another one'}
          onDone={({ body }) => {
            made.value = String((body as { readonly 'secret-id'?: unknown })['secret-id']);
            onChange();
          }}
        >
          <p class="quiet">
            It lasts and can be used as the approle says;{' '}
            <a href={hrefOf(`${fillPath(template, names)}/generate-secret-id`)}>with other limits</a>.
          </p>
        </Act>
      )}
    </section>
  );
}

type ListProps = { readonly path: string; readonly turn: number; readonly onEnd: ((one: SecretId) => void) | undefined };

function SecretIdList({ path, turn, onEnd }: ListProps): ComponentChildren {
  const loaded = useSteady(useLoaded({ method: 'GET', path, query: { limit: '100' } }, turn).value);
  if (loaded.state !== 'there') return null;
  const all = loaded.answer.body as readonly SecretId[];
  const total = Number(loaded.answer.headers.get('total-count') ?? all.length);
  if (all.length === 0) return <p class="quiet">It has no secret-id: no program can log in yet.</p>;
  const columns: readonly Column<SecretId>[] = [
    { head: 'Accessor', is: 'name', cell: ({ accessor }) => <code class="accessor">{visible(accessor)}</code> },
    { head: 'Made', cell: (one) => <Moment at={one['creation-time']} /> },
    { head: 'Ends', cell: ({ expires }) => (expires === undefined ? <span class="quiet">never</span> : <Moment at={expires} />) },
    { head: 'Uses left', is: 'amount', cell: (one) => one['uses-left']?.toLocaleString(locale) ?? <span class="quiet">any</span> },
    { head: 'From', cell: (one) => (one['bound-cidrs'] ?? []).map((range) => visible(range)).join(', ') },
    ...(onEnd === undefined ? [] : [endColumn(onEnd)]),
  ];
  return (
    <>
      <DataTable label="Secret-ids of this approle" columns={columns} rows={all} keyOf={({ accessor }) => accessor} />
      {total > all.length && (
        <p class="quiet">
          The first {all.length.toLocaleString(locale)} of {total.toLocaleString(locale)}. <a href={hrefOf(path)}>All of them</a>
        </p>
      )}
    </>
  );
}

function endColumn(onEnd: (one: SecretId) => void): Column<SecretId> {
  return {
    head: 'What you can do',
    is: 'acts',
    cell: (one) => (
      <button type="button" class="small danger" aria-label={`End ${visible(one.accessor)}`} onClick={() => onEnd(one)}>
        End
      </button>
    ),
  };
}
