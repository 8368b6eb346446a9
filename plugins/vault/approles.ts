// Approles: their role-ids, and the secret-ids that those who set up programs make for them.
import { fail } from '../../core/base/errors.ts';
import { formatDuration } from '../../core/base/time.ts';
import type { Alias } from '../../core/http/alias.ts';
import type { JsonObject } from '../../core/wire/json.ts';
import { type Facade, json, nothing, writes } from './facade.ts';
import { Fields } from './fields.ts';

const config = '/v1/config/keystore/authentication/approles';
const state = '/v1/state/keystore/authentication/approles';

/** `mount`: `/v1/auth/approle`. */
export function approleAdministration(facade: Facade, mount: string): readonly Alias[] {
  const role = `${mount}/role/{name}`;
  return [
    ...facade.aliases({
      ...{ methods: ['GET', 'LIST'], missing: 'read', path: `${mount}/role`, of: `GET ${config}` },
      target: (asked) => ({ params: {}, query: facade.listQuery(asked) }),
      answer: ({ requestId, document }, asked) => facade.listed(asked, requestId, document as readonly string[]),
    }),
    ...facade.aliases({
      ...{ methods: ['GET'], missing: 'read', path: `${role}/role-id`, of: `GET ${state}/{name}` },
      answer: ({ requestId, document }, asked) =>
        facade.enveloped(asked, requestId, { data: { role_id: (document as JsonObject)['role-id'] } }),
    }),
    ...facade.aliases({
      ...{ methods: writes, missing: 'approle', path: `${role}/secret-id`, of: `POST ${state}/{name}/generate-secret-id` },
      input: (document, asked) => {
        const fields = new Fields(document, ['role_name']);
        const input = secretIdOf(fields);
        facade.warnOfUnknown(asked, fields.unknown());
        return input;
      },
      undo: ({ data }, { params }, invoke) => {
        const accessor = (data as JsonObject)['secret_id_accessor'] ?? null;
        return invoke('POST', `${state}/${params['name']}/disable-secret-id`, { accessor });
      },
      answer: ({ requestId, document }, asked) => {
        const { 'secret-id': secret, accessor } = document as JsonObject;
        const data = {
          ...(secret === undefined ? {} : { secret_id: secret }),
          ...(accessor === undefined ? {} : { secret_id_accessor: accessor }),
        };
        return facade.enveloped(asked, requestId, { data: { ...data, ...limitsOf(facade, document as JsonObject) } });
      },
    }),
    ...facade.aliases({
      ...{ methods: ['GET', 'LIST'], missing: 'read', path: `${role}/secret-id`, of: `GET ${state}/{name}/secret-ids` },
      target: (asked) => ({ params: { name: facade.requireName(asked.params['name']) }, query: facade.listQuery(asked) }),
      answer: ({ requestId, document }, asked) => facade.listed(asked, requestId, document as readonly string[]),
    }),
    ...facade.aliases({
      ...{ methods: writes, missing: 'read', path: `${role}/secret-id-accessor/lookup`, of: `GET ${state}/{name}/secret-ids` },
      answer: () => nothing,
      // The body is read for the reply alone: a list takes none.
      input: () => ({}),
      async reply(outcome, asked) {
        const { error, document, requestId } = outcome;
        if (error !== undefined) return undefined;
        const wanted = new Fields(outcome.body() ?? {}).text('secret_id_accessor');
        const found = (document as readonly JsonObject[]).find(({ accessor }) => accessor === wanted);
        if (found === undefined)
          return json(404, { errors: [`failed to find accessor entry for secret_id_accessor: the approle has no such secret-id`] });
        const { accessor, 'creation-time': created, expires, 'bound-cidrs': ranges } = found;
        const data = { secret_id_accessor: accessor, creation_time: created, expiration_time: expires ?? null, cidr_list: ranges ?? [] };
        return facade.enveloped(asked, requestId, { data: { ...data, ...limitsOf(facade, found) } });
      },
    }),
    ...(['secret-id', 'secret-id-accessor'] as const).flatMap((by) =>
      facade.aliases({
        ...{ methods: writes, missing: 'approle', path: `${role}/${by}/destroy`, of: `POST ${state}/{name}/disable-secret-id` },
        input: (document) => {
          const [theirs, ours] = by === 'secret-id' ? (['secret_id', 'secret-id'] as const) : (['secret_id_accessor', 'accessor'] as const);
          const value = new Fields(document).word(theirs);
          if (value === undefined) throw fail('missing-field', { detail: `missing ${theirs}: which secret-id is to end.` });
          return { [ours]: value };
        },
        answer: () => nothing,
      }),
    ),
  ];
}

function secretIdOf(fields: Fields): JsonObject {
  const [ttl, uses, ranges] = [fields.seconds('ttl'), fields.integer('num_uses'), fields.texts('cidr_list')];
  if ((fields.texts('token_bound_cidrs') ?? []).some((one) => one !== ''))
    throw fail('invalid-value', {
      detail: '"token_bound_cidrs" of a secret-id is not offered: set it for the approle, so that no token works from elsewhere.',
    });
  const bound = (ranges ?? []).map((one) => one.trim()).filter((one) => one !== '');
  return {
    ...(ttl === undefined || ttl === 0 ? {} : { ttl: formatDuration(ttl) }),
    ...(uses === undefined || uses === 0 ? {} : { 'num-uses': uses }),
    ...(bound.length === 0 ? {} : { 'bound-cidrs': bound }),
  };
}

/** Seconds and uses that are left; 0 is without limit, and what policies hide is left out with them. */
function limitsOf(facade: Facade, { 'creation-time': created, expires, 'uses-left': uses }: JsonObject): JsonObject {
  if (typeof created !== 'string') return {};
  const left = typeof expires === 'string' ? facade.clock.now().until(Temporal.Instant.from(expires)).total('seconds') : 0;
  return { secret_id_ttl: Math.max(0, Math.round(left)), secret_id_num_uses: typeof uses === 'number' ? uses : 0 };
}
