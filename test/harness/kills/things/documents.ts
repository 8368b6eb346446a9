// Policies, approles and tenants as things of a storm: documents that are created, replaced and deleted.
import { holds } from '../../holds.ts';
import { labelsOf } from './keys.ts';
import type { Sort } from './thing.ts';

/** The content that the last change gave it. */
type Content = { readonly turn: number };

type Row = {
  readonly kind: string;
  readonly list: string;
  readonly document: (turn: number) => Readonly<Record<string, unknown>>;
};

const rows: readonly Row[] = [
  {
    kind: 'policy',
    list: '/v1/config/policy/policies',
    document(turn) {
      const rule = { path: `/v1/state/keystore/transit-keys/of-turn-${turn}`, operations: { read: 'allow' } };
      return { 'rest-api': { rules: [rule] } };
    },
  },
  { kind: 'approle', list: '/v1/config/keystore/authentication/approles', document: () => ({ 'token-policies': ['user'] }) },
  { kind: 'tenant', list: '/v1/config/tenants', document: (turn) => ({ 'descriptive-name': `as of turn ${turn}` }) },
];

/** Every sort of document. */
export const documentSorts: readonly Sort<Content>[] = rows.map(sortOf);

function sortOf({ kind, list, document }: Row): Sort<Content> {
  const contentOf = (turn: number): Readonly<Record<string, unknown>> => ({ ...document(turn), labels: labelsOf(turn) });
  return {
    kind,
    create: (name) => ({ kind: `create ${kind}`, method: 'POST', path: list, body: { name, ...contentOf(1) }, next: { turn: 1 } }),
    change(name, { turn }, dice) {
      const path = `${list}/${name}`;
      if (dice.chance(0.1)) return { kind: `delete ${kind}`, method: 'DELETE', path, next: undefined };
      return { kind: `replace ${kind}`, method: 'PUT', path, body: contentOf(turn + 1), next: { turn: turn + 1 } };
    },
    async use(connection, name, content) {
      await connection.do('GET', `${list}/${name}`);
      return content;
    },
    async contradiction(connection, name, content) {
      const { status, body, text } = await connection.send('GET', `${list}/${name}`);
      if (content === undefined) return status === 404 ? undefined : `it exists (${status})`;
      if (status !== 200) return `it does not exist (${status})`;
      return holds(body, contentOf(content.turn)) ? undefined : `it is not that of turn ${content.turn}: ${text}`;
    },
  };
}
